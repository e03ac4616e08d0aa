package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.space.GrowingMemory;
import io.farheap.kv.space.KeptBuffer;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Values of a leased map that are longer than a block. */
class LeasedValuesTest {

    private static final long REGION = 4 << 20;
    private static final int REGIONS = 2;
    private static final int LONG = 100_000;
    private static final int PROCESSES = 3;
    private static final int KEYS = 8;
    private static final int REQUESTS = Math.max(500, Effort.count(2_000));

    private final TestServers servers = new TestServers("values");
    private final SplittableRandom random = new SplittableRandom(5);

    private byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        random.nextBytes(value);
        return value;
    }

    /** Each server has a region more than the map takes, for the area. */
    private FarMapBuilder leased(int count) {
        return servers.named(servers.startAll(count, REGIONS + 1, REGION))
                .engine(FarMapBuilder.LEASED)
                .objects(4000)
                .memory(count * REGIONS * REGION);
    }

    private FarMap open(FarMap map) {
        return servers.named(map.servers().toArray(String[]::new)).open();
    }

    @AfterEach
    void close() {
        servers.close();
    }

    @Test
    void valuesOfAnyLengthAreFoundAndReplaced() {
        int one = LeasedCalls.mostValueBytes(4);
        int piece = LeasedPieces.PIECE_BYTES;
        int[] lengths = {
            one - 1, one, one + 1, piece, piece + 1, 2 * piece, 16 * piece, 17 * piece + 5, 500_000, 100, 1_200_000, 0
        };
        try (FarMap map = leased(2).create();
                FarMap another = open(map);
                MapSession session = map.openSession();
                MapSession other = another.openSession(1)) {
            for (int bytes : lengths) {
                byte[] value = value(bytes);
                session.set(TestServers.key(1), value);
                assertArrayEquals(value, session.get(TestServers.key(1)));
                assertArrayEquals(value, other.get(TestServers.key(1)));
                assertArrayEquals(value, other.get(TestServers.key(1)));
            }
            session.set(TestServers.key(1), value(500_000));
            assertTrue(other.delete(TestServers.key(1)));
            assertNull(session.get(TestServers.key(1)));
            assertEquals(0, map.stats().objects());
            assertThrows(
                    IllegalArgumentException.class,
                    () -> session.set(TestServers.key(1), new byte[MapSession.MOST_VALUE_BYTES + 1]));
        }
    }

    /** A hot get of such a value reads its index and its pieces, and calls no server. */
    @Test
    void aHotGetIsReadsAlone() {
        try (FarMap map = leased(1)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .create();
                MapSession session = map.openSession()) {
            byte[] value = value(LONG);
            session.set(TestServers.key(1), value);
            assertArrayEquals(value, session.get(TestServers.key(1)));
            long leases = servers.counter(0, "maps.leases.given");
            long reads = session.posted().reads();
            for (int i = 0; i < 50; i++) {
                assertArrayEquals(value, session.get(TestServers.key(1)));
            }
            assertEquals(50 * (1 + LeasedPieces.count(LONG)), session.posted().reads() - reads);
            assertEquals(leases, servers.counter(0, "maps.leases.given"), "a get asked the server");
        }
    }

    @Test
    void conditionsTimesAndBatchesHoldForThem() {
        try (FarMap map = leased(2).create();
                MapSession session = map.openSession(8)) {
            byte[] key = TestServers.key(1);
            byte[] first = value(LONG);
            byte[] second = value(LONG + 7);
            assertFalse(session.replace(key, first, 0));
            assertTrue(session.add(key, first, 0));
            assertFalse(session.add(key, second, 0));
            VersionedValue found = session.getVersioned(key);
            assertNotNull(found);
            assertArrayEquals(first, found.value());
            assertFalse(session.compareAndSet(key, second, found.version() + 1, 0));
            assertTrue(session.compareAndSet(key, second, found.version(), 0));
            assertFalse(session.compareAndSet(key, first, found.version(), 0));
            assertThrows(MapException.class, () -> session.increment(key, 1));
            assertTrue(session.touch(key, 1));
            while (session.get(key) != null) {
                Thread.onSpinWait();
            }
            List<byte[]> keys = new ArrayList<>();
            List<byte[]> values = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                keys.add(TestServers.key(i));
                values.add(value(i % 3 == 0 ? 10 : 5_000 * (i + 1)));
            }
            session.setAll(keys, values, 0);
            for (int round = 0; round < 2; round++) {
                List<byte[]> all = session.getAll(keys);
                for (int i = 0; i < keys.size(); i++) {
                    assertArrayEquals(values.get(i), all.get(i), "value " + i);
                }
            }
        }
    }

    @Test
    void futuresAndTypedMapsHaveThem() throws Exception {
        try (FarMap map = leased(1).create();
                FutureMapSession futures = map.openFutureSession();
                TypedMap<String, byte[]> typed = map.openTyped(Codec.STRING, Codec.BYTES)) {
            byte[] value = value(LONG);
            List<Future<?>> sets = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                sets.add(futures.set(TestServers.key(i), value, 0));
            }
            for (Future<?> each : sets) {
                each.get(60, TimeUnit.SECONDS);
            }
            for (int i = 0; i < 10; i++) {
                assertArrayEquals(value, futures.get(TestServers.key(i)).get(60, TimeUnit.SECONDS));
            }
            typed.set("a", value);
            assertArrayEquals(value, typed.get("a"));
        }
    }

    /** A session stores one such value and reads one at a time; the others wait, and all requests end in order. */
    @Test
    void manyAreUnderWay() {
        try (FarMap map = leased(2).create();
                MapSession session = map.openSession(8)) {
            List<byte[]> values = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                values.add(value(i % 3 == 0 ? 10 : 10_000 * (i + 1)));
                session.set(TestServers.key(i), values.get(i));
            }
            List<Long> tags = new ArrayList<>();
            int begun = 0;
            while (tags.size() < 200) {
                boolean more = begun < 200;
                if (more) {
                    int number = begun % 20;
                    MemorySegment key = MemorySegment.ofArray(TestServers.key(number));
                    more = begun % 7 == 6
                            ? session.set(key, MemorySegment.ofArray(values.get(number)), 0, begun)
                            : session.get(key, begun);
                    begun += more ? 1 : 0;
                }
                if (!more
                        && session.poll((tag, status, memory, at, bytes) -> {
                                    assertEquals(KvStatus.DONE, status);
                                    tags.add(tag);
                                    if (tag % 7 != 6) {
                                        byte[] copy = new byte[bytes];
                                        MemorySegment.copy(memory, at, MemorySegment.ofArray(copy), 0, bytes);
                                        assertArrayEquals(values.get((int) (tag % 20)), copy, "request " + tag);
                                    }
                                })
                                == 0) {
                    session.await(1_000_000);
                }
            }
            for (int i = 0; i < 200; i++) {
                assertEquals(i, tags.get(i));
            }
        }
    }

    /** Another process replaces the value all the time: each get ends, with a whole value. */
    @Test
    void aGetEndsBesideSets() throws Exception {
        String[] one = servers.startAll(1, REGIONS + 2, REGION);
        for (Duration term : List.of(Duration.ZERO, Duration.ofMillis(20))) {
            AtomicBoolean ended = new AtomicBoolean();
            try (FarMap map = servers.named(one)
                            .engine(FarMapBuilder.LEASED)
                            .objects(4000)
                            .memory(REGIONS * REGION)
                            .leaseTerms(term, term)
                            .create();
                    FarMap other = open(map);
                    MapSession session = map.openSession();
                    ExecutorService executor = Executors.newSingleThreadExecutor()) {
                session.set(TestServers.key(3), TestServers.value(3, LONG));
                Future<?> sets = executor.submit(() -> {
                    try (MapSession there = other.openSession()) {
                        for (int i = 0; !ended.get(); i++) {
                            there.set(TestServers.key(3), TestServers.value(i, LONG));
                        }
                    }
                });
                try {
                    for (int i = 0; i < 200; i++) {
                        byte[] found = session.get(TestServers.key(3));
                        assertNotNull(found);
                        int number = ByteBuffer.wrap(found).getInt();
                        assertArrayEquals(TestServers.value(number, LONG), found, "a mixed value");
                    }
                } finally {
                    ended.set(true);
                    sets.get();
                }
                map.drop();
            }
            // The regions of both areas, too.
            servers.awaitFree(0, REGIONS + 2);
        }
    }

    /** Three processes, with leases and without; the clock of one stands still, so it takes no lease for over. */
    @Test
    void eachKeyIsLinearizable() throws Exception {
        long seed = System.nanoTime();
        String[] one = servers.startAll(1, REGIONS + PROCESSES, REGION);
        for (Duration term : List.of(Duration.ZERO, Duration.ofMillis(20))) {
            List<FarMap> maps = new ArrayList<>();
            try (ExecutorService executor = Executors.newFixedThreadPool(PROCESSES)) {
                maps.add(servers.named(one)
                        .engine(FarMapBuilder.LEASED)
                        .objects(4000)
                        .memory(REGIONS * REGION)
                        .leaseTerms(term, term)
                        .create());
                maps.add(servers.named(one).open());
                maps.add(servers.named(one).leaseClock(() -> 1).open());
                List<MapSession> sessions =
                        maps.stream().map(FarMap::openSession).toList();
                List<Future<List<MapHistoryTest.Event>>> running = new ArrayList<>();
                for (int i = 0; i < PROCESSES; i++) {
                    MapHistoryTest.Client client = new MapHistoryTest.Client(
                            sessions.get(i),
                            TestKeys.of(KEYS, false),
                            i,
                            new SplittableRandom(seed + i),
                            MapHistoryTest.Beside.NOTHING);
                    running.add(
                            executor.submit(() -> client.patient().words(8_000).run(REQUESTS)));
                }
                List<MapHistoryTest.Event> events = new ArrayList<>();
                for (Future<List<MapHistoryTest.Event>> each : running) {
                    events.addAll(each.get());
                }
                MapHistoryTest.check(KEYS, events, seed);
                sessions.forEach(MapSession::close);
                maps.getFirst().drop();
            } finally {
                maps.forEach(FarMap::close);
            }
            servers.awaitFree(0, REGIONS + PROCESSES);
        }
    }

    /** The map has one session, which knows what each request must find: none is lost, mixed or made twice. */
    @Needs(Need.SOFTVERBS)
    @Test
    void noRequestIsLostIfQueuePairsFail() {
        Map<Integer, byte[]> expected = new HashMap<>();
        try (FarMap map = leased(2).create();
                MapSession session = map.openSession()) {
            Softverbs.set("qp_error_after=150");
            for (int i = 0; i < 100; i++) {
                int number = random.nextInt(8);
                byte[] key = TestServers.key(number);
                byte[] value = value(random.nextInt(3) == 0 ? 100 : random.nextInt(300_000));
                boolean there = expected.containsKey(number);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        session.set(key, value);
                        expected.put(number, value);
                    }
                    case 1 -> {
                        assertEquals(!there, session.add(key, value, 0), "step " + i);
                        expected.putIfAbsent(number, value);
                    }
                    case 2 -> {
                        assertEquals(there, session.replace(key, value, 0), "step " + i);
                        expected.replace(number, value);
                    }
                    default -> assertArrayEquals(expected.get(number), session.get(key), "step " + i);
                }
            }
        } finally {
            Softverbs.set("qp_error_after=0");
        }
    }

    /** The server has no region for the area: such a value finds no room, the message says why, and others do. */
    @Test
    void aServerWithoutARegionForTheAreaRefusesThemAlone() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = servers.named(one)
                        .engine(FarMapBuilder.LEASED)
                        .objects(4000)
                        .memory(REGIONS * REGION)
                        .create();
                MapSession session = map.openSession()) {
            MapException e = assertThrows(MapException.class, () -> session.set(TestServers.key(1), new byte[LONG]));
            assertTrue(String.valueOf(e.getMessage()).contains("no region of"), e::getMessage);
            assertNull(session.get(TestServers.key(1)));
            session.set(TestServers.key(1), new byte[16_000]);
            assertNotNull(session.get(TestServers.key(1)));
        }
    }

    /** One session of the process is not polled, and has so much of the area that another value has no room. */
    @Timeout(60)
    @Test
    void aSetEndsBesideASessionThatIsNotPolled() {
        try (FarMap map = leased(1).create();
                MapSession session = map.openSession();
                MapSession unpolled = map.openSession()) {
            session.set(TestServers.key(1), new byte[LONG]);
            MemorySegment key = MemorySegment.ofArray(TestServers.key(2));
            assertTrue(unpolled.set(key, MemorySegment.ofArray(new byte[2_500_000]), 0, 1));
            MapException e =
                    assertThrows(MapException.class, () -> session.set(TestServers.key(3), new byte[2_000_000]));
            assertTrue(String.valueOf(e.getMessage()).contains("other sessions of this process"), e::getMessage);
            List<Integer> ends = new ArrayList<>();
            while (ends.isEmpty()) {
                unpolled.poll((tag, status, memory, at, bytes) -> ends.add(status));
            }
            assertEquals(List.of(KvStatus.DONE), ends);
            session.set(TestServers.key(3), new byte[2_000_000]);
        }
    }

    /** Rings of reports stay for as long as the process is there: a value for which they leave no room is refused. */
    @Timeout(60)
    @Test
    void aSetEndsBesideRingsOfReports() {
        try (FarMap map = leased(1)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .writtenReports(true)
                        .create();
                MapSession session = map.openSession()) {
            session.set(TestServers.key(1), new byte[100]);
            while (servers.counter(0, "maps.reports.written") == 0) {
                for (int i = 0; i < 200; i++) {
                    assertNotNull(session.get(TestServers.key(1)));
                }
                // The server's thread merges between calls.
                session.delete(TestServers.key(1000));
            }
            assertThrows(MapException.class, () -> session.set(TestServers.key(2), new byte[(int) REGION]));
            assertThrows(MapException.class, () -> session.set(TestServers.key(2), new byte[4_100_000]));
            session.set(TestServers.key(2), new byte[LONG]);
        }
    }

    /** The process gives its areas back when it ends. */
    @Test
    void theAreaEndsWithTheProcess() {
        try (FarMap map = leased(1).create()) {
            assertEquals(1, servers.freeRegions(0));
            try (FarMap other = open(map);
                    MapSession session = other.openSession();
                    MapSession second = other.openSession()) {
                session.set(TestServers.key(1), value(LONG));
                second.set(TestServers.key(2), value(LONG));
                assertEquals(0, servers.freeRegions(0));
            }
            servers.awaitFree(0, 1);
        }
    }

    /** More than the map can hold: it evicts, and what it has is right. A value that no shard can hold is refused. */
    @Test
    void aFullMapEvicts() {
        try (FarMap map = leased(1).create();
                MapSession session = map.openSession()) {
            Map<Integer, byte[]> stored = new HashMap<>();
            int found = 0;
            for (int i = 0; i < 200; i++) {
                byte[] value = value(50_000 + random.nextInt(100_000));
                session.set(TestServers.key(i), value);
                stored.put(i, value);
            }
            for (int i = 0; i < 200; i++) {
                byte[] value = session.get(TestServers.key(i));
                if (value != null) {
                    found++;
                    assertArrayEquals(stored.get(i), value);
                }
            }
            assertTrue(found > 30 && found < 100, found + " of 200");
            assertThrows(
                    MapException.class,
                    () -> session.set(TestServers.key(1000), new byte[MapSession.MOST_VALUE_BYTES]));
            assertThrows(MapException.class, () -> session.set(TestServers.key(1000), new byte[4_100_000]));
            assertNull(session.get(TestServers.key(1000)));
        }
    }

    /** The requests after one that has no memory continue. */
    @Test
    void aRequestThatHasNoMemoryEndsAlone() {
        try (FarMap map = leased(1).create();
                MapSession writer = map.openSession(1);
                MapSession session = map.openSession(8)) {
            writer.set(TestServers.key(1), new byte[LONG]);
            writer.set(TestServers.key(2), new byte[100]);
            Object requests = Fields.get(session, "requests", Object.class);
            for (String of : List.of("reader", "writer")) {
                GrowingMemory memory =
                        Fields.get(Fields.get(requests, of, Object.class), "memory", GrowingMemory.class);
                LongFunction<KeptBuffer> buffers = memory.buffers;
                memory.buffers = bytes -> {
                    throw new OutOfMemoryError("refused");
                };
                List<Integer> ends = new ArrayList<>();
                MemorySegment key = MemorySegment.ofArray(TestServers.key(1));
                if (of.equals("reader")) {
                    session.get(key, 1);
                } else {
                    session.set(key, MemorySegment.ofArray(new byte[LONG]), 0, 1);
                }
                session.get(MemorySegment.ofArray(TestServers.key(2)), 2);
                while (ends.size() < 2) {
                    session.poll((tag, status, found, at, bytes) -> ends.add(status));
                }
                assertEquals(List.of(KvStatus.NO_MEMORY, KvStatus.DONE), ends);
                memory.buffers = buffers;
            }
            assertArrayEquals(new byte[LONG], session.get(TestServers.key(1)));
            session.set(TestServers.key(1), new byte[LONG + 1]);
            assertArrayEquals(new byte[LONG + 1], session.get(TestServers.key(1)));
        }
    }
}
