package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.leased.client.LeasedPointers;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.session.MapCountTotals;
import io.farheap.kv.space.PointerCache;
import io.farheap.remote.RemoteMemory;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Maps of the leased engine, on servers of this process. */
class LeasedMapTest {

    private static final long REGION = 4 << 20;
    private static final int REGIONS = 4;
    private static final long OBJECTS = 4000;

    private final TestServers servers = new TestServers("leased");

    private FarMapBuilder leased(String... addresses) {
        return servers.named(addresses)
                .engine(FarMapBuilder.LEASED)
                .objects(OBJECTS)
                .memory(REGION * REGIONS);
    }

    @AfterEach
    void close() {
        servers.close();
    }

    @Test
    void whatOneProcessStoresTheOtherFinds() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one).create();
                FarMap other = servers.named(one).open();
                MapSession here = map.openSession();
                MapSession there = other.openSession()) {
            for (int i = 0; i < 200; i++) {
                here.set(TestServers.key(i), TestServers.value(i, i * 20));
            }
            for (int i = 0; i < 200; i++) {
                assertArrayEquals(TestServers.value(i, i * 20), there.get(TestServers.key(i)));
            }
            assertTrue(there.delete(TestServers.key(7)));
            assertNull(here.get(TestServers.key(7)));
            assertFalse(there.delete(TestServers.key(7)));
            assertEquals(199, map.stats().objects());
        }
    }

    /** Its pointers are others. */
    @Test
    void itHoldsNoMemoryForPointersOfTheDisaggregatedEngine() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap made = leased(one).create();
                FarMap opened = servers.named(one).open()) {
            for (FarMap map : List.of(made, opened)) {
                LeasedConnection connection = Fields.get(map, "now", LeasedConnection.class);
                RemoteMemory memory = Fields.get(connection, "memory", RemoteMemory.class);
                Object unused = Fields.get(memory, "onLost", Object.class);
                assertFalse(Fields.get(unused, "cache", PointerCache.class).holdsMemory());
            }
        }
    }

    /** It stays open for the sessions that it has; then its memory is closed, under no session that comes late. */
    @Test
    void aConnectionThatHasEndedOpensNoSession() {
        try (FarMap map = leased(servers.startAll(1, REGIONS, REGION)).create();
                MapSession before = map.openSession()) {
            LeasedConnection connection = Fields.get(map, "now", LeasedConnection.class);
            LeasedPointers pointers = Fields.get(connection, "pointers", LeasedPointers.class);
            connection.end();
            MapCountTotals tally = new MapCountTotals(List.of());
            assertThrows(IllegalStateException.class, () -> connection.session(16, tally));
            assertFalse(connection.isUnused());
            assertTrue(pointers.holdsMemory());
            before.close();
            assertTrue(connection.isUnused());
            assertFalse(pointers.holdsMemory());
        }
    }

    @Test
    void theMemoryOfPointersEndsWithTheMap() {
        FarMap map = leased(servers.startAll(1, REGIONS, REGION)).create();
        LeasedPointers pointers =
                Fields.get(Fields.get(map, "now", LeasedConnection.class), "pointers", LeasedPointers.class);
        assertTrue(pointers.holdsMemory());
        map.close();
        assertFalse(pointers.holdsMemory());
    }

    @Test
    void aProcessWithoutPointersReadsNothing() {
        try (FarMap map =
                        leased(servers.startAll(1, REGIONS, REGION)).pointers(0).create();
                MapSession session = map.openSession()) {
            session.set(TestServers.key(1), TestServers.value(1, 100));
            for (int i = 0; i < 3; i++) {
                assertArrayEquals(TestServers.value(1, 100), session.get(TestServers.key(1)));
            }
            assertEquals(0, session.posted().reads());
        }
    }

    /** A hot get is one READ, and no call. */
    @Test
    void aHotGetIsOneRead() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .create();
                MapSession session = map.openSession()) {
            byte[] value = TestServers.value(3, 1000);
            session.set(TestServers.key(3), value);
            assertArrayEquals(value, session.get(TestServers.key(3)));
            long before = session.posted().reads();
            long leases = servers.counter(0, "maps.leases.given");
            assertEquals(2, map.counts().calls());
            for (int i = 0; i < 1000; i++) {
                assertArrayEquals(value, session.get(TestServers.key(3)));
            }
            assertEquals(1000, session.posted().reads() - before);
            assertEquals(1000, map.counts().pointerHits());
            assertEquals(0, map.counts().stalePointers());
            assertEquals(2, map.counts().calls());
            assertEquals(leases, servers.counter(0, "maps.leases.given"), "a get asked the server");
        }
    }

    /** A value that is too long for a short answer is got by a call if nothing is leased, and by READ if it is. */
    @Test
    void aLongValueIsReadIfItIsLeased() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        for (Duration term : List.of(Duration.ZERO, Duration.ofSeconds(50))) {
            try (FarMap map = leased(one).leaseTerms(term, term).create();
                    MapSession session = map.openSession()) {
                byte[] value = TestServers.value(3, 10_000);
                session.set(TestServers.key(3), value);
                assertArrayEquals(value, session.get(TestServers.key(3)));
                long reads = session.posted().reads();
                for (int i = 0; i < 100; i++) {
                    assertArrayEquals(value, session.get(TestServers.key(3)));
                }
                assertEquals(term.isZero() ? 0 : 100, session.posted().reads() - reads);
                map.drop();
            }
            servers.awaitFree(0, REGIONS);
        }
    }

    /** If only the lease of a long value is over, the value is read, and the lease renewed by a short call. */
    @Test
    void aLeaseThatIsOverIsRenewed() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        AtomicLong ahead = new AtomicLong();
        try (FarMap map = leased(one)
                        .leaseClock(() -> System.nanoTime() + ahead.get())
                        .create();
                MapSession session = map.openSession()) {
            byte[] value = TestServers.value(3, 10_000);
            session.set(TestServers.key(3), value);
            assertArrayEquals(value, session.get(TestServers.key(3)));
            for (int i = 1; i <= 20; i++) {
                ahead.addAndGet(Duration.ofMinutes(1).toNanos());
                long reads = session.posted().reads();
                assertArrayEquals(value, session.get(TestServers.key(3)));
                assertEquals(1, session.posted().reads() - reads);
                assertEquals(i, servers.counter(0, "maps.leases.renewed"));
                assertEquals(i, map.counts().renewals());
            }
        }
    }

    /** Another process replaces a long value all the time: a get ends nevertheless. */
    @Test
    void aGetOfALongValueEndsBesideSets() throws Exception {
        String[] one = servers.startAll(1, REGIONS, REGION);
        AtomicBoolean ended = new AtomicBoolean();
        try (FarMap map = leased(one)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .create();
                FarMap other = servers.named(one).open();
                MapSession session = map.openSession();
                ExecutorService executor = Executors.newSingleThreadExecutor()) {
            session.set(TestServers.key(3), TestServers.value(3, 10_000));
            Future<?> sets = executor.submit(() -> {
                try (MapSession there = other.openSession()) {
                    while (!ended.get()) {
                        there.set(TestServers.key(3), TestServers.value(3, 10_000));
                    }
                }
            });
            for (int i = 0; i < 300; i++) {
                assertArrayEquals(TestServers.value(3, 10_000), session.get(TestServers.key(3)));
            }
            ended.set(true);
            sets.get();
            MapCounts counts = map.counts();
            assertTrue(counts.stalePointers() <= counts.hits(), counts::toString);
        }
    }

    /**
     * More sessions than half of the message rings that a process may have: each takes one, until it needs long calls.
     */
    @Test
    void aSessionTakesOneRingUntilItMakesLongCalls() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        List<MapSession> sessions = new ArrayList<>();
        try (FarMap map = leased(one).create()) {
            for (int i = 0; i < 140; i++) {
                sessions.add(map.openSession(1));
            }
            sessions.getLast().set(TestServers.key(1), new byte[100]);
            sessions.getFirst().set(TestServers.key(2), new byte[10_000]);
            assertEquals(2, map.stats().objects());
            sessions.forEach(MapSession::close);
        }
    }

    /** Servers have memory for so many requests of a process; a session is refused that finds no room for its own. */
    @Test
    void aProcessHasABoundedNumberOfRequests() {
        try (FarMap map = leased(servers.startAll(1, REGIONS, REGION)).create()) {
            LeasedConnection connection = Fields.get(map, "now", LeasedConnection.class);
            int[] places = Fields.get(connection, "places", int[].class);
            places[1000] = LeasedCalls.MOST_PLACES - 16;
            map.openSession(1).close();
            try (MapSession session = map.openSession(16)) {
                session.set(TestServers.key(1), new byte[1]);
                MapException e = assertThrows(MapException.class, () -> map.openSession(1));
                assertTrue(String.valueOf(e.getMessage()).contains("at most 131072"), e::getMessage);
            }
            map.openSession(16).close();
        }
    }

    /** A request that a server refuses says why. */
    @Test
    void aRequestOfAMapThatHasEndedSaysSo() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one).create();
                MapSession session = map.openSession()) {
            servers.named(one).open().drop();
            MapException e = assertThrows(MapException.class, () -> session.get(TestServers.key(1)));
            assertTrue(String.valueOf(e.getMessage()).contains("says that the map has ended"), e::getMessage);
        }
    }

    /** Two servers of the same name and token have parts of two maps, of two engines. */
    @Test
    void serversOfTwoMapsAreNotOpenedAsOne() {
        String[] two = servers.startAll(2, REGIONS, REGION);
        try (FarMap first = servers.named(two[0])
                        .engine(FarMapBuilder.LEASED)
                        .memory(REGION)
                        .objects(1000)
                        .create();
                FarMap second =
                        servers.named(two[1]).memory(REGION).objects(1000).create()) {
            MapException e =
                    assertThrows(MapException.class, () -> servers.named(two).open());
            assertTrue(String.valueOf(e.getMessage()).contains("name the servers of one map"), e::getMessage);
            assertEquals(first.name(), second.name());
        }
    }

    /** Reads 40 objects until many of the READs are reported, and never more than there were. */
    private void readUntilReported(MapSession session, Runnable between) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        long reads = 0;
        long reported = 0;
        // A report waits for the answer to the one before, and a server thread that sleeps answers late.
        while (reads < 7000 || reported < reads / 2) {
            assertTrue(System.nanoTime() - deadline < 0, reported + " of " + reads + " reported");
            for (int i = 0; i < 40; i++) {
                if (session.get(TestServers.key(i)) == null) {
                    session.set(TestServers.key(i), TestServers.value(i, 100));
                }
            }
            between.run();
            reads = session.posted().reads();
            reported = servers.counter(0, "maps.reads.reported");
            assertTrue(reported <= reads, reported + " of " + reads + " reported");
        }
        assertEquals(0, servers.counter(0, "maps.reads.capped"));
    }

    /** READs that ask no server are reported, so the object stays popular. */
    @Test
    void oneSidedReadsAreReported() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .create();
                MapSession session = map.openSession()) {
            readUntilReported(session, () -> {});
        }
    }

    @Test
    void aProcessReportsNothingIfItIsNotToReport() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .reports(false)
                        .create();
                MapSession session = map.openSession()) {
            for (int i = 0; i < 40; i++) {
                session.set(TestServers.key(i), TestServers.value(i, 100));
            }
            // Enough READs for reports of all parts of the pointers, several times.
            long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
            while (map.counts().pointerHits() < 7000) {
                assertTrue(System.nanoTime() - deadline < 0, map.counts()::toString);
                for (int i = 0; i < 40; i++) {
                    assertNotNull(session.get(TestServers.key(i)));
                }
            }
            // A later call of this session would arrive after a report.
            assertNull(session.get(TestServers.key(50)));
            assertEquals(0, servers.counter(0, "maps.reads.reported"));
        }
    }

    /** The same, but they are written: no report is a call, and what is written is merged while calls are served. */
    @Test
    void oneSidedReadsAreReportedByWrite() {
        String[] one = servers.startAll(1, REGIONS + 1, REGION);
        try (FarMap map = leased(one)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .writtenReports(true)
                        .create();
                MapSession session = map.openSession()) {
            // The server's thread merges between calls.
            readUntilReported(session, () -> session.delete(TestServers.key(1000)));
            long written = servers.counter(0, "maps.reports.written");
            assertTrue(written > 0 && written <= servers.counter(0, "maps.reports.merged"));
            assertTrue(session.posted().writes() >= written, session.posted()::toString);
        }
    }

    /** A server without a region for them gets them as calls. */
    @Test
    void reportsAreSentIfTheyCannotBeWritten() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .writtenReports(true)
                        .create();
                MapSession session = map.openSession()) {
            long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
            session.set(TestServers.key(1), TestServers.value(1, 100));
            while (servers.counter(0, "maps.reads.reported") == 0) {
                assertTrue(System.nanoTime() - deadline < 0, "nothing is reported");
                for (int i = 0; i < 200; i++) {
                    assertNotNull(session.get(TestServers.key(1)));
                }
            }
            assertEquals(0, servers.counter(0, "maps.reports.written"));
        }
    }

    /** A pointer of another process ends with the object, at once: the next get sees the new one. */
    @Test
    void aSetIsSeenAtOnceByWhomHasAPointer() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one)
                        .leaseTerms(Duration.ofSeconds(50), Duration.ofMinutes(1))
                        .create();
                FarMap other = servers.named(one).open();
                MapSession here = map.openSession();
                MapSession there = other.openSession()) {
            for (int i = 0; i < 300; i++) {
                here.set(TestServers.key(1), TestServers.value(i, 100));
                assertArrayEquals(TestServers.value(i, 100), there.get(TestServers.key(1)));
                assertArrayEquals(TestServers.value(i, 100), there.get(TestServers.key(1)));
            }
            assertTrue(other.counts().stalePointers() > 100, other.counts()::toString);
            here.delete(TestServers.key(1));
            assertNull(there.get(TestServers.key(1)));
        }
    }

    @Test
    void conditionsNumbersAndTimes() {
        String[] two = servers.startAll(2, REGIONS, REGION);
        try (FarMap map = leased(two).memory(2 * REGION * REGIONS).create();
                MapSession session = map.openSession()) {
            byte[] key = TestServers.key(1);
            assertFalse(session.replace(key, new byte[8], 0));
            assertTrue(session.add(key, new byte[8], 0));
            assertFalse(session.add(key, new byte[9], 0));
            VersionedValue found = session.getVersioned(key);
            assertNotNull(found);
            assertFalse(session.compareAndSet(key, new byte[8], found.version() + 1, 0));
            assertEquals(OptionalLong.of(5), session.increment(key, 5));
            assertEquals(OptionalLong.of(3), session.increment(key, -2));
            assertFalse(session.compareAndSet(key, new byte[8], found.version(), 0));
            found = session.getVersioned(key);
            assertNotNull(found);
            assertTrue(session.compareAndSet(key, new byte[3], found.version(), 0));
            assertThrows(MapException.class, () -> session.increment(key, 1));
            assertTrue(session.touch(key, 1));
            while (session.get(key) != null) {
                Thread.onSpinWait();
            }
            assertFalse(session.touch(key, 1));
            assertEquals(OptionalLong.empty(), session.increment(key, 1));
        }
    }

    /** A request that fails ends its future, and neither the session nor the thread of futures. */
    @Test
    void futuresFailAlone() throws Exception {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one).create();
                FutureMapSession futures = map.openFutureSession();
                TypedMap<String, Long> typed = map.openTyped(Codec.STRING, Codec.LONG)) {
            byte[] key = TestServers.key(1);
            assertTrue(futures.add(key, new byte[3], 0).get(20, TimeUnit.SECONDS));
            CompletableFuture<OptionalLong> sum = futures.increment(key, 1);
            ExecutionException failure = assertThrows(ExecutionException.class, () -> sum.get(20, TimeUnit.SECONDS));
            assertInstanceOf(MapException.class, failure.getCause());
            assertArrayEquals(new byte[3], futures.get(key).get(20, TimeUnit.SECONDS));
            assertThrows(ExecutionException.class, () -> futures.set(key, new byte[20_000_000], 0)
                    .get(20, TimeUnit.SECONDS));
            typed.set("a", 40L);
            assertEquals(OptionalLong.of(42), typed.increment("a", 2));
            assertEquals(42L, typed.get("a"));
        }
    }

    /** Keys of several servers and shards, in batches and in flight together. */
    @Test
    void manyRequestsAreInFlight() {
        String[] two = servers.startAll(2, REGIONS, REGION);
        try (FarMap map = leased(two).memory(2 * REGION * REGIONS).create();
                MapSession session = map.openSession(64)) {
            List<byte[]> keys = new ArrayList<>();
            List<byte[]> values = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                keys.add(TestServers.key(i));
                values.add(TestServers.value(i, i * 30));
            }
            session.setAll(keys, values, 0);
            for (int round = 0; round < 3; round++) {
                List<byte[]> found = session.getAll(keys);
                for (int i = 0; i < keys.size(); i++) {
                    assertArrayEquals(values.get(i), found.get(i));
                }
            }
            assertTrue(map.counts().hits() >= 1500);
        }
    }

    /** Requests of one session for one key take effect in their order, and are called back in it. */
    @ParameterizedTest
    @ValueSource(ints = {16, 1024})
    void requestsForAKeyKeepTheirOrder(int inFlight) {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one).create();
                MapSession session = map.openSession(inFlight)) {
            MemorySegment key = MemorySegment.ofArray(TestServers.key(1));
            List<Integer> sizes = new ArrayList<>();
            List<Long> tags = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                MemorySegment value = MemorySegment.ofArray(new byte[i]);
                while (!session.set(key, value, 2L * i)) {
                    poll(session, sizes, tags);
                }
                while (!session.get(key, 2L * i + 1)) {
                    poll(session, sizes, tags);
                }
            }
            while (session.inFlight() > 0) {
                poll(session, sizes, tags);
            }
            for (int i = 0; i < 600; i++) {
                assertEquals(i, tags.get(i));
            }
            for (int i = 0; i < 300; i++) {
                assertEquals(i, sizes.get(i));
            }
        }
    }

    private static void poll(MapSession session, List<Integer> sizes, List<Long> tags) {
        session.poll((tag, status, memory, at, bytes) -> {
            assertEquals(KvStatus.DONE, status);
            tags.add(tag);
            if (tag % 2 == 1) {
                sizes.add(bytes);
            }
        });
    }

    /** More objects than there is memory for: the map evicts, and what it has is right. */
    @Test
    void aFullMapEvicts() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        try (FarMap map = leased(one).memory(REGION).objects(10_000).create();
                MapSession session = map.openSession()) {
            TestServers.fill(session, 0, 7500);
            int found = TestServers.found(session, 0, 7500);
            assertTrue(found > 1250 && found < 5000, found + " of 7,500 objects");
            assertEquals(100, TestServers.found(session, 7400, 7500));
        }
    }

    @Test
    void whatALeasedMapCannotDoIsRefused() {
        String[] one = servers.startAll(1, REGIONS, REGION);
        assertThrows(
                IllegalArgumentException.class, () -> leased(one).policy("lru").create());
        assertThrows(
                IllegalArgumentException.class,
                () -> leased(one).objects(1 << 24).create());
        assertThrows(IllegalArgumentException.class, () -> servers.named(one)
                .memory(REGION * REGIONS)
                .leaseTerms(Duration.ofSeconds(1), Duration.ofSeconds(1))
                .create());
        assertThrows(IllegalArgumentException.class, () -> servers.named(one)
                .memory(REGION * REGIONS)
                .writtenReports(true)
                .create());
        assertThrows(
                IllegalArgumentException.class,
                () -> servers.named(one).memory(REGION).leaseQueues(2).create());
        assertThrows(
                IllegalArgumentException.class,
                () -> servers.named(one).memory(REGION).reports(false).create());
        assertThrows(
                IllegalArgumentException.class,
                () -> leased(one).staleness(Duration.ofSeconds(1)).create());
        assertEquals(REGIONS, servers.freeRegions(0));
        try (FarMap map = leased(one).memory(REGION).objects(1000).create()) {
            assertEquals(
                    "values up to PT1S old of a leased map, whose gets are exact and cost other processes nothing; leave"
                            + " that out",
                    assertThrows(IllegalArgumentException.class, () -> servers.named(one)
                                    .staleness(Duration.ofSeconds(1))
                                    .open())
                            .getMessage());
            assertThrows(MapException.class, () -> map.grow(REGION));
            assertThrows(IllegalArgumentException.class, () -> map.drain(one[0], Duration.ofSeconds(1)), "the last");
            String message = String.valueOf(
                    assertThrows(MapException.class, map::weights).getMessage());
            assertFalse(message.contains("add a server"), message);
            try (MapSession session = map.openSession()) {
                assertThrows(
                        IllegalArgumentException.class,
                        () -> session.set(TestServers.key(1), new byte[MapSession.MOST_VALUE_BYTES + 1]));
                session.set(TestServers.key(1), new byte[16_000]);
                assertEquals(16_000, found(session).length);
            }
            map.drop();
        }
        servers.awaitFree(0, REGIONS);
    }

    private static byte[] found(MapSession session) {
        byte[] found = session.get(TestServers.key(1));
        assertNotNull(found);
        return found;
    }
}
