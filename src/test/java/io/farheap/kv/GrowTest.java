package io.farheap.kv;

import static io.farheap.kv.TestServers.TOKEN;
import static io.farheap.kv.TestServers.VALUE_BYTES;
import static io.farheap.kv.TestServers.assertSound;
import static io.farheap.kv.TestServers.found;
import static io.farheap.kv.TestServers.key;
import static io.farheap.kv.TestServers.value;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.SilentProcess;
import io.farheap.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Maps that get more memory while they are used. */
class GrowTest {

    private static final long REGION_BYTES = 256 << 10;
    private static final String NAME = "growing";
    private final TestServers servers = new TestServers(NAME);

    private String[] start(int count, int regions) {
        return servers.startAll(count, regions, REGION_BYTES);
    }

    @AfterEach
    void close() {
        servers.close();
    }

    @Test
    void whatAMapGrowsByIsUsedByAllOfItsProcesses() {
        String[] addresses = start(2, 8);
        int objects = 2400;
        try (FarMap first = servers.named(addresses)
                        .memory(4 * REGION_BYTES)
                        .objects(4000)
                        .create();
                MapSession session = first.openSession();
                FarMap second = servers.named(addresses).open();
                MapSession other = second.openSession()) {
            for (int i = 0; i < objects; i++) {
                session.set(key(i), value(i, VALUE_BYTES));
            }
            int before = found(other, 0, objects);
            assertTrue(before < 1000, before + " objects of 1 KiB in 1 MiB");
            first.grow(8 * REGION_BYTES);
            assertEquals(12, first.stats().regions());
            for (int i = 0; i < objects; i++) {
                (i % 2 == 0 ? session : other).set(key(i), value(i, VALUE_BYTES));
            }
            // Each process finds the objects that the other has stored in the new memory.
            assertEquals(found(session, 0, objects), found(other, 0, objects));
            assertTrue(found(session, 0, objects) > 2 * before, before + " before, then " + found(session, 0, objects));
            assertEquals(12, second.stats().regions());
            assertSound(first);
            second.grow(1);
            assertEquals(14, second.stats().regions());
            try (FarMap third = servers.named(addresses).open();
                    MapSession late = third.openSession()) {
                assertEquals(14, third.stats().regions());
                assertEquals(found(session, 0, objects), found(late, 0, objects));
                assertSound(third);
            }
        }
    }

    @Test
    void nothingIsInNewMemoryBeforeEveryProcessKnowsIt() throws Exception {
        String[] addresses = start(1, 4);
        try (FarMap map = servers.named(addresses)
                        .memory(2 * REGION_BYTES)
                        .objects(2000)
                        .create();
                MapSession session = map.openSession()) {
            long had = map.stats().segmentBytes();
            CompletableFuture<Void> grown;
            try (SilentProcess silent = new SilentProcess(NAME, addresses[0])) {
                grown = CompletableFuture.runAsync(() -> map.grow(2 * REGION_BYTES));
                while (map.stats().regions() < 4) {
                    Thread.onSpinWait();
                }
                for (int i = 0; i < 2000; i++) {
                    session.set(key(i), value(i, VALUE_BYTES));
                }
                MapStats stats = map.stats();
                assertTrue(stats.segmentBytesTaken() <= had, stats::toString);
                assertFalse(grown.isDone());
            }
            grown.get();
            for (int i = 0; i < 2000; i++) {
                session.set(key(i), value(i, VALUE_BYTES));
            }
            MapStats stats = map.stats();
            assertTrue(stats.segmentBytesTaken() > had + REGION_BYTES, stats::toString);
            assertSound(map);
        }
    }

    @Test
    void whatIsRefusedLeavesTheMapAsItWas() {
        String[] addresses = start(2, 4);
        try (FarMap map = servers.named(addresses)
                        .memory(4 * REGION_BYTES)
                        .objects(100)
                        .create();
                FarMap filler = FarMap.builder()
                        .name("filler")
                        .token(TOKEN)
                        .device(TestDevice.client())
                        .servers(addresses[1])
                        .memory(2 * REGION_BYTES)
                        .objects(100)
                        .create();
                MapSession session = map.openSession()) {
            session.set(key(1), value(1, VALUE_BYTES));
            assertThrows(IllegalArgumentException.class, () -> map.grow(0));
            assertThrows(IllegalArgumentException.class, () -> map.grow(-1));
            assertThrows(IllegalArgumentException.class, () -> map.grow(Long.MAX_VALUE));
            assertEquals(
                    addresses[1],
                    assertThrows(MapException.class, () -> map.grow(4 * REGION_BYTES))
                            .getMessage()
                            .replaceAll(".*?([0-9.]+:[0-9]+) gives the map no 2 regions more.*", "$1"));
            assertEquals(4, map.stats().regions());
            assertEquals(1, found(session, 0, 10));
            filler.drop();
            // The map takes the regions now that the first server gave before, and no server has more.
            servers.awaitFree(1, 2);
            map.grow(4 * REGION_BYTES);
            assertEquals(8, map.stats().regions());
            assertThrows(MapException.class, () -> map.grow(1));
            assertSound(map);
        }
    }

    @Test
    void aMapGrowsFromSeveralProcessesUnderLoad() throws Exception {
        long seed = System.nanoTime();
        String[] addresses = start(2, 10);
        AtomicBoolean over = new AtomicBoolean();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        try (FarMap first = servers.named(addresses)
                        .memory(4 * REGION_BYTES)
                        .objects(3000)
                        .create();
                FarMap second = servers.named(addresses).open()) {
            List<Thread> users = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                FarMap map = i == 0 ? first : second;
                SplittableRandom random = new SplittableRandom(seed + i);
                users.add(Thread.ofPlatform().start(() -> {
                    try (MapSession session = map.openSession()) {
                        while (!over.get()) {
                            int number = random.nextInt(4000);
                            switch (random.nextInt(4)) {
                                case 0 -> session.delete(key(number));
                                case 1 -> {
                                    byte[] value = session.get(key(number));
                                    if (value != null) {
                                        assertEquals(
                                                ByteBuffer.wrap(value(number, VALUE_BYTES)), ByteBuffer.wrap(value));
                                    }
                                }
                                default -> session.set(key(number), value(number, VALUE_BYTES));
                            }
                        }
                    } catch (Throwable e) {
                        failure.compareAndSet(null, e);
                    }
                }));
            }
            CompletableFuture<Void> theirs = CompletableFuture.runAsync(() -> {
                second.grow(2 * REGION_BYTES);
                second.grow(2 * REGION_BYTES);
            });
            for (int i = 0; i < 3; i++) {
                first.grow(3 * REGION_BYTES);
            }
            theirs.get();
            over.set(true);
            for (Thread user : users) {
                user.join();
            }
            assertNull(failure.get(), () -> "seed " + seed + ": " + failure.get());
            // Two calls have added one region on each of the two servers, and three calls two.
            assertEquals(4 + 2 * 2 + 3 * 4, first.stats().regions());
            assertSound(second);
        }
    }
}
