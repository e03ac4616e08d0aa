package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlServer;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.space.PointerCache;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import io.farheap.testing.Wait;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FarMapTest {

    private static final long REGION_BYTES = 256 << 10;
    private static final int REGIONS = 4;
    private static final String TOKEN = "not a secret";
    private static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);

    private final List<MemoryServer> servers = new ArrayList<>();
    private final List<ControlServer> controls = new ArrayList<>();

    private String[] start(int count) {
        for (int i = 0; i < count; i++) {
            MemoryServer server = MemoryServer.open(new ServerOptions(
                    REGIONS * REGION_BYTES, REGION_BYTES, LEASE_NANOS, TestDevice.server(), "map" + i));
            servers.add(server);
            controls.add(ControlServer.start("127.0.0.1:0", Planes.of(server)));
        }
        return controls.stream().map(ControlServer::address).toArray(String[]::new);
    }

    @AfterEach
    void close() {
        controls.forEach(ControlServer::close);
        servers.forEach(MemoryServer::close);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static FarMapBuilder named(String... addresses) {
        return FarMap.builder()
                .name("prices")
                .token(TOKEN)
                .device(TestDevice.client())
                .servers(addresses);
    }

    private int free(int server) {
        return servers.get(server).description().freeRegions();
    }

    @Test
    void clientsShareAMapThatOutlivesThem() {
        String[] addresses = start(2);
        try (FarMap first = named(addresses)
                        .memory(2 * REGION_BYTES)
                        .objects(100)
                        .life(Duration.ofSeconds(Long.MAX_VALUE))
                        .create();
                MapSession session = first.openSession()) {
            session.set(bytes("a"), bytes("one"));
            try (FarMap second = named(addresses[1], addresses[0]).open();
                    MapSession other = second.openSession()) {
                assertArrayEquals(bytes("one"), other.get(bytes("a")));
                other.set(bytes("a"), bytes("two"));
                other.set(bytes("b"), bytes("three"));
            }
            assertArrayEquals(bytes("two"), session.get(bytes("a")));
            assertTrue(session.delete(bytes("b")));
        }
        try (FarMap third = named(addresses).open();
                MapSession session = third.openSession()) {
            assertArrayEquals(bytes("two"), session.get(bytes("a")));
            assertNull(session.get(bytes("b")));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theMemoryOfPointersEndsWithTheMap(boolean drop) {
        FarMap map = named(start(1)).memory(2 * REGION_BYTES).create();
        PointerCache pointers = Fields.get(map, "now", MapConnection.class).pointers;
        try (MapSession session = map.openSession()) {
            session.set(bytes("a"), bytes("one"));
            session.get(bytes("a"));
            session.get(bytes("a"));
        }
        assertTrue(pointers.areHeld() && pointers.holdsMemory());
        if (drop) {
            map.drop();
        } else {
            map.close();
        }
        assertFalse(pointers.holdsMemory());
    }

    @Test
    void eachFaceOfAMapUsesPointers() throws Exception {
        try (FarMap map = named(start(1)).memory(2 * REGION_BYTES).pointers(100).create();
                TypedMap<String, String> typed = map.openTyped(Codec.STRING, Codec.STRING);
                FutureMapSession futures = map.openFutureSession()) {
            typed.set("a", "one");
            Wait.until(
                    () -> "one".equals(typed.get("a")) && map.counts().pointerHits() > 0,
                    20_000_000_000L,
                    "no pointer is kept");
            long hits = map.counts().pointerHits();
            futures.set(bytes("b"), bytes("two"), 0).get();
            Wait.until(
                    () -> futures.get(bytes("b")).join() != null && map.counts().pointerHits() > hits,
                    20_000_000_000L,
                    "no pointer is kept");
        }
        for (long wrong : new long[] {-1, (1L << 30) + 1}) {
            assertThrows(IllegalArgumentException.class, () -> FarMap.builder().pointers(wrong));
        }
    }

    @Test
    void aMapThatIsDroppedIsGoneWithItsMemory() throws Exception {
        String[] addresses = start(1);
        FarMap map = named(addresses).memory(2 * REGION_BYTES).create();
        try (MapSession session = map.openSession()) {
            session.set(bytes("a"), bytes("one"));
        }
        assertEquals(REGIONS - 2, free(0));
        map.drop();
        assertThrows(ControlException.class, () -> named(addresses).open());
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        while (free(0) < REGIONS && System.nanoTime() - deadline < 0) {
            Thread.sleep(5);
        }
        assertEquals(REGIONS, free(0));
        try (FarMap again = named(addresses).memory(4 * REGION_BYTES).create();
                MapSession session = again.openSession()) {
            assertNull(session.get(bytes("a")));
        }
    }

    @Test
    void whatIsWrongIsRefusedAndLeavesNothing() throws Exception {
        String[] addresses = start(2);
        assertThrows(IllegalArgumentException.class, () -> named().create());
        assertThrows(IllegalArgumentException.class, () -> named(addresses[0], addresses[0])
                .create());
        assertThrows(
                IllegalArgumentException.class,
                () -> FarMap.builder().servers(addresses).create());
        assertThrows(
                IllegalArgumentException.class,
                () -> named(addresses).memory(REGION_BYTES).objects(1_000_000).create());
        // The second server has too few free regions for the next map.
        try (FarMap some = FarMap.builder()
                .name("some")
                .token(TOKEN)
                .device(TestDevice.client())
                .servers(addresses[1])
                .memory(2 * REGION_BYTES)
                .create()) {
            assertThrows(
                    ControlException.class,
                    () -> named(addresses).memory(6 * REGION_BYTES).create());
            awaitFree(0, REGIONS);
            try (FarMap map = named(addresses).memory(2 * REGION_BYTES).create()) {
                MapException e = assertThrows(
                        MapException.class, () -> named(addresses[0]).open());
                assertTrue(e.getMessage().contains("2 servers, and 1 of these were named"), e.getMessage());
                assertThrows(
                        ControlException.class,
                        () -> named(addresses).token("another one").open());
                assertThrows(ControlException.class, () -> named(addresses).create());
                map.drop();
            }
            some.drop();
        }
        awaitFree(0, REGIONS);
        awaitFree(1, REGIONS);
    }

    /** Numbers of the builder and of the map are tried at their limits, and beyond them. */
    @Test
    void numbersAtTheirEnds() throws Exception {
        String[] addresses = start(2);
        int tables = (int) (REGION_BYTES - SpaceShape.PAGE_BYTES - (64 << 10)) / SpaceShape.BUCKET_BYTES;
        long mostObjects = 2L * tables * SpaceShape.BUCKET_SLOTS / 2;
        for (long refused : new long[] {mostObjects + 1, 1L << 61, 1L << 62, Long.MAX_VALUE}) {
            FarMapBuilder builder = named(addresses).memory(2 * REGION_BYTES).objects(refused);
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, builder::create);
            assertTrue(e.getMessage().contains("up to " + mostObjects + ";"), e.getMessage());
        }
        long mostBytes = 1L << 40;
        for (long refused : new long[] {Long.MIN_VALUE, -1, 0, mostBytes + 1, 1L << 60, 1L << 62, Long.MAX_VALUE}) {
            FarMapBuilder builder = named(addresses).memory(refused);
            IllegalArgumentException e = assertThrows(IllegalArgumentException.class, builder::create);
            assertTrue(e.getMessage().contains("1 byte to 1 TiB"), e.getMessage());
        }
        // The largest memory is allowed, but the servers have too few regions for it.
        assertThrows(
                ControlException.class, () -> named(addresses).memory(mostBytes).create());
        assertThrows(IllegalArgumentException.class, () -> named().objects(0));
        assertThrows(IllegalArgumentException.class, () -> named().objects(Long.MIN_VALUE));
        assertThrows(IllegalArgumentException.class, () -> named().smallObjects(0));
        awaitFree(0, REGIONS);
        try (FarMap map = named(addresses)
                        .memory(2 * REGION_BYTES)
                        .objects(mostObjects)
                        .smallObjects(Long.MAX_VALUE)
                        .create();
                MapSession session = map.openSession()) {
            session.set(bytes("a"), new byte[0]);
            assertArrayEquals(new byte[0], session.get(bytes("a")));
            for (long bytes : new long[] {Long.MIN_VALUE, 0, Long.MAX_VALUE}) {
                assertThrows(IllegalArgumentException.class, () -> map.grow(bytes));
                assertThrows(IllegalArgumentException.class, () -> map.addServer(addresses[0], bytes));
            }
            for (int requests : new int[] {Integer.MIN_VALUE, 0, 1025, Integer.MAX_VALUE}) {
                assertThrows(IllegalArgumentException.class, () -> map.openSession(requests));
            }
            map.openSession(1024).close();
            map.drop();
        }
        awaitFree(0, REGIONS);
        awaitFree(1, REGIONS);
    }

    /** A map's memory is whole regions, and its table is for as many objects as these have room for. */
    @Test
    void aByteOfMemoryIsARegionWithATableForIt() throws Exception {
        String[] addresses = start(1);
        try (FarMap map = named(addresses).memory(1).create()) {
            assertEquals(2 * REGION_BYTES / 512, map.stats().slots());
            map.drop();
        }
    }

    private void awaitFree(int server, int regions) throws InterruptedException {
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        while (free(server) != regions && System.nanoTime() - deadline < 0) {
            Thread.sleep(5);
        }
        assertEquals(regions, free(server));
    }
}
