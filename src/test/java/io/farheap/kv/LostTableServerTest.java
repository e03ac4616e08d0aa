package io.farheap.kv;

import static io.farheap.kv.ServerLoss.await;
import static io.farheap.kv.ServerLoss.holds;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.CallingProcess;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A map that was made on three servers continues without one of them. */
class LostTableServerTest {

    private static final long LEASE_NANOS = TestDevice.patience(1_500_000_000L);
    private static final long REGION_BYTES = 1 << 20;
    private static final int OBJECTS = 200;
    private static final int SERVER_REGIONS = 8;
    /** So that a session needs segments of all servers. */
    private static final int VALUE_BYTES = 2000;

    private static final MonotonicClient.Load CLIENT_LOAD = new MonotonicClient.Load(60, VALUE_BYTES, 1);

    private static String[] start(TestServers servers, int count) {
        return servers.startAll(count, SERVER_REGIONS, REGION_BYTES, LEASE_NANOS);
    }

    private static FarMapBuilder map(TestServers servers, String... addresses) {
        return servers.named(addresses).memory(6 * REGION_BYTES).objects(2000).replaceAfter(Duration.ofMillis(100));
    }

    /** Opens a map as soon as its processes have said that the server is lost without which it is opened. */
    private static FarMap awaitOpen(FarMapBuilder without) {
        FarMap[] opened = new FarMap[1];
        await(() -> holds(() -> {
            try {
                opened[0] = without.open();
            } catch (ControlException e) {
                throw new MapException("not yet: " + e.getMessage());
            }
        }));
        return opened[0];
    }

    /** The keys that are found now. */
    private static Set<Integer> found(MapSession session) {
        return ServerLoss.found(session, OBJECTS);
    }

    private static void setAll(MapSession session, Set<Long> versions) {
        for (int i = 0; i < OBJECTS; i++) {
            session.set(TestServers.key(i), TestServers.value(i, VALUE_BYTES));
            VersionedValue stored = session.getVersioned(TestServers.key(i));
            assertTrue(stored == null || versions.add(stored.version()), "a version returns");
        }
    }

    static Stream<Integer> firstAndOthers() {
        return Effort.variants(2, 0, 1, 2);
    }

    static Stream<Integer> others() {
        return Effort.variants(1, 2, 1, 0);
    }

    static Stream<Integer> firstOrLast() {
        return Effort.variants(1, 0, 2);
    }

    /** @param lost the server that is killed; the map's first, too */
    @ParameterizedTest
    @MethodSource("firstAndOthers")
    void itsKeysCanBeSetAgainAndTheOthersStay(int lost) {
        Set<Long> versions = new HashSet<>();
        try (TestServers servers = new TestServers("lost")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    FarMap other = servers.named(addresses).open();
                    MapSession session = map.openSession();
                    MapSession second = other.openSession()) {
                setAll(session, versions);
                servers.stop(lost);
                // The others' objects stay, whether a process has opened the map again or not.
                Set<Integer> left = found(session);
                assertTrue(left.size() > OBJECTS / 6 && left.size() < OBJECTS * 5 / 6, left.size() + " are left");
                await(() -> holds(() -> setAll(session, versions)));
                await(() -> holds(() -> setAll(second, versions)));
                assertEquals(OBJECTS, found(session).size());
                assertEquals(OBJECTS, found(second).size());
                for (int i = 0; i < 3; i++) {
                    try (MapSession another = map.openSession()) {
                        setAll(another, versions);
                    }
                }
                await(() -> holds(() -> TestServers.assertSound(map)));
                for (int i = 0; i < OBJECTS; i++) {
                    assertTrue(second.delete(TestServers.key(i)));
                    assertNull(session.get(TestServers.key(i)));
                }
            }
            // A process that opens the map again finds it without the lost server, named or not.
            List<String> present = new ArrayList<>(List.of(addresses));
            present.remove(lost);
            for (String[] named : new String[][] {addresses, present.toArray(String[]::new)}) {
                try (FarMap map = servers.named(named).open();
                        MapSession session = map.openSession()) {
                    setAll(session, versions);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("others")
    void whatIsThereStaysThere(int lost) {
        try (TestServers servers = new TestServers("stays")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                Set<Integer> others = apartFrom(lost, Fields.get(map, "now", MapConnection.class));
                servers.stop(lost);
                Set<Integer> before = found(session);
                // A get that is under way when the process opens the map again may end as lost.
                assertTrue(others.containsAll(before), "found without their server: " + before + " " + others);
                // The key of a miss had its slot there.
                await(() -> map.servers().size() == 2
                        && holds(() -> session.get(TestServers.key(-1)))
                        && found(session).containsAll(others));
                assertEquals(others, found(session), "an object of the lost server is back");
            }
        }
    }

    /** The keys whose slots and blocks are on other servers than the one that will be lost. */
    private static Set<Integer> apartFrom(int lost, MapConnection connection) {
        Set<Integer> apart = new HashSet<>();
        SpaceMemory space = connection.space;
        try (RemoteQueue queue = connection.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = connection.memory.register(SpaceShape.BUCKET_BYTES)) {
            long bucket = memory.segment().address();
            for (int i = 0; i < OBJECTS; i++) {
                byte[] key = TestServers.key(i);
                long hash = TestKeys.hash(space.keyHash(), key);
                RemoteRegion region = space.region(space.shape().bucketRegion(hash));
                long at = space.shape().bucketAt(hash);
                int posting = queue.execute(false, region, at, memory, 0, SpaceShape.BUCKET_BYTES, 0);
                assertEquals(PostResult.DONE, posting);
                int slot = Bucket.find(bucket, hash, 0);
                while (slot != Bucket.NONE && !Bucket.isOfHash(bucket, slot, hash)) {
                    slot = Bucket.find(bucket, hash, slot + 1);
                }
                assertTrue(slot != Bucket.NONE, "key " + i + " was evicted");
                if (tableServer(connection, key) != lost && space.serverOf(Bucket.word(bucket, slot)) != lost) {
                    apart.add(i);
                }
            }
        }
        return apart;
    }

    @ParameterizedTest
    @MethodSource("firstOrLast")
    void clientsThatGoOnFindNoOlderValue(int lost) throws Exception {
        try (TestServers servers = new TestServers("clients")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    FarMap other = servers.named(addresses).open()) {
                MonotonicClient.outlive(() -> servers.stop(lost), map, other, CLIENT_LOAD);
                await(() -> holds(() -> TestServers.assertSound(map)));
            }
        }
    }

    /** Its process was stopped: it answers again, with the old table, when the map has continued without it. */
    @Test
    void aServerThatComesBackIsNotUsed() {
        try (TestServers servers = new TestServers("back")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                servers.silence(1);
                await(() -> map.servers().size() == 2 && holds(() -> setAll(session, new HashSet<>())));
                servers.answer(1, addresses[1]);
                try (FarMap second = servers.named(addresses).open();
                        MapSession other = second.openSession()) {
                    assertEquals(2, second.servers().size());
                    other.delete(TestServers.key(0));
                    assertNull(session.get(TestServers.key(0)));
                    assertEquals(OBJECTS - 1, found(other).size());
                    servers.awaitFree(1, SERVER_REGIONS);
                    map.addServer(addresses[1], REGION_BYTES);
                    assertEquals(3, second.servers().size());
                }
            }
        }
    }

    /** What two servers say to a process that reaches one alone may have been replaced by now. */
    @Test
    void aProcessThatReachesFewServersStops() {
        try (TestServers servers = new TestServers("few")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                servers.silence(0);
                servers.silence(2);
                await(() -> found(session).isEmpty());
                servers.answer(0, addresses[0]);
                servers.answer(2, addresses[2]);
            }
        }
    }

    /** Its lease is lost, but a thread is inside a queue, so that its next requests may still be posted. */
    @Test
    void aServerToWhichAProcessMayStillPostIsNotReplaced() {
        try (TestServers servers = new TestServers("posts")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    CallingProcess asks = new CallingProcess("posts")) {
                MapConnection connection = Fields.get(map, "now", MapConnection.class);
                RemoteQueue queue = connection.memory.openQueue(QueueOptions.DEFAULT);
                Set<Long> answers = new HashSet<>();
                queue.enter();
                try {
                    servers.silence(1);
                    RemoteServer lost = connection.memory.servers().get(1);
                    await(() -> lost.lost() != null);
                    for (int beats = 0; beats < 10; beats++) {
                        answers.add(asks.call(addresses[0], MapCalls.SEAL, 1L << 1, 1)[0]);
                        LockSupport.parkNanos(100_000_000);
                    }
                } finally {
                    queue.exit();
                }
                assertEquals(Set.of(MapCalls.IN_USE), answers);
                await(() -> map.servers().size() == 2);
                servers.answer(1, addresses[1]);
            }
        }
    }

    /**
     * Its part of the table is made again while a process has pointers to objects that were named there, with blocks on
     * the other servers. The lease has been refused, so by the process's clock it would be held for a while yet.
     */
    @Test
    void pointersFromTheOldPartAreNotUsed() {
        try (TestServers servers = new TestServers("pointers")) {
            String[] addresses = start(servers, 3);
            FarMapBuilder maker = map(servers, addresses).replaceAfter(Duration.ofHours(1));
            try (FarMap map = maker.create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                await(() -> {
                    long before = map.counts().pointerHits();
                    return found(session).size() == OBJECTS && map.counts().pointerHits() - before > OBJECTS / 2;
                });
                MapConnection connection = Fields.get(map, "now", MapConnection.class);
                servers.restart(1, SERVER_REGIONS, REGION_BYTES, LEASE_NANOS);
                await(connection.memory.servers().get(1)::isAbandoned);
                for (int i = 0; i < OBJECTS; i++) {
                    byte[] key = TestServers.key(i);
                    if (tableServer(connection, key) == 1) {
                        assertThrows(MapException.class, () -> session.get(key), "a pointer is used");
                    }
                }
                try (FarMap second = awaitOpen(servers.named(addresses).withoutServer(addresses[1]));
                        MapSession other = second.openSession()) {
                    // Some slots say that there are pointers to objects on the lost server.
                    for (int i = 0; i < OBJECTS; i++) {
                        other.set(TestServers.key(i), TestServers.value(OBJECTS + i, VALUE_BYTES));
                    }
                    assertNoOldValues(session);
                }
            }
        }
    }

    private static int tableServer(MapConnection connection, byte[] key) {
        SpaceMemory space = connection.space;
        return space.layout().serverOfTable(space.shape().bucketRegion(TestKeys.hash(space.keyHash(), key)));
    }

    /** All keys have been set to new values since; some are lost to a process that has not opened the map again. */
    private static void assertNoOldValues(MapSession session) {
        for (int i = 0; i < OBJECTS; i++) {
            int key = i;
            holds(() -> assertArrayEquals(
                    TestServers.value(OBJECTS + key, VALUE_BYTES), session.get(TestServers.key(key))));
        }
    }

    /** The old leases end late, as the keeper's thread is held up: a session does not wait for that. */
    @Test
    void aSessionUsesTheNewLeasesAtOnce() throws Exception {
        try (TestServers servers = new TestServers("again")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses)
                            .replaceAfter(Duration.ofHours(1))
                            .create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                MapConnection before = Fields.get(map, "now", MapConnection.class);
                CountDownLatch holds = new CountDownLatch(1);
                CompletableFuture<Void> held = CompletableFuture.runAsync(
                        () -> before.keeper.tasks().ask(() -> {
                            holds.await();
                            return true;
                        }),
                        task -> Thread.ofVirtual().start(task));
                servers.silence(1);
                RemoteServer lost = before.memory.servers().get(1);
                await(() -> lost.lost() != null);
                servers.answer(1, addresses[1]);
                await(() -> Fields.get(before.space, "ending", Boolean.class));
                Set<Integer> found = found(session);
                holds.countDown();
                assertEquals(OBJECTS, found.size());
                held.get();
            }
        }
    }

    /** The other two of four are no majority, so that they cannot have replaced these. */
    @Test
    void aProcessThatReachesHalfOfTheServersContinuesThere() {
        try (TestServers servers = new TestServers("half")) {
            String[] addresses = start(servers, 4);
            try (FarMap map = map(servers, addresses).memory(8 * REGION_BYTES).create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                MapConnection connection = Fields.get(map, "now", MapConnection.class);
                servers.silence(2);
                servers.silence(3);
                await(() -> connection.memory.servers().stream()
                                .filter(each -> each.lost() != null)
                                .count()
                        == 2);
                assertTrue(found(session).size() > OBJECTS / 8, "the others' keys");
                try (MapSession another = map.openSession()) {
                    assertTrue(found(another).size() > OBJECTS / 8, "of a new session, too");
                }
                assertSame(connection, Fields.get(map, "now", MapConnection.class), "none is replaced");
                servers.answer(2, addresses[2]);
                servers.answer(3, addresses[3]);
            }
        }
    }

    /** An operator knows that it is lost; the map would wait for an hour. */
    @Test
    void anOperatorDoesNotWait() {
        try (TestServers servers = new TestServers("operator")) {
            String[] addresses = start(servers, 3);
            FarMapBuilder maker = map(servers, addresses).replaceAfter(Duration.ofHours(1));
            try (FarMap map = maker.create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                FarMapBuilder without = servers.named(addresses).withoutServer(addresses[0]);
                String refused = assertThrows(MapException.class, without::open).getMessage();
                assertTrue(refused.contains("it is not lost"), refused);
                servers.stop(0);
                awaitOpen(without).close();
                await(() -> holds(() -> setAll(session, new HashSet<>())));
                try (FarMap second =
                        servers.named(addresses).withoutServer(addresses[0]).open()) {
                    second.drain(addresses[0], Duration.ofSeconds(10));
                }
                assertEquals(OBJECTS, found(session).size());
            }
        }
    }

    /** No process has the map open, so none knows that a server is lost which was only not named. */
    @Test
    void aWrongAddressCostsNothing() {
        try (TestServers servers = new TestServers("wrong")) {
            String[] addresses = start(servers, 4);
            String[] made = {addresses[0], addresses[1], addresses[2]};
            try (FarMap map = map(servers, made)
                            .replaceAfter(Duration.ofMillis(1))
                            .create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
            }
            for (String wrong : new String[] {addresses[3], "127.0.0.1:9"}) {
                for (int i = 0; i < 3; i++) {
                    assertThrows(RuntimeException.class, () -> servers.named(addresses[0], addresses[1], wrong)
                            .open());
                    LockSupport.parkNanos(2_000_000);
                }
            }
            try (FarMap map = servers.named(made).open();
                    MapSession session = map.openSession()) {
                assertEquals(OBJECTS, found(session).size());
                assertEquals(3, map.servers().size());
            }
        }
    }

    /** Processes have ended while it did not answer, so another one no longer uses its part of the table. */
    @Test
    void aServerThatAnotherOneTakesForGoneIsReplacedThoughItAnswers() throws Exception {
        try (TestServers servers = new TestServers("gone")) {
            String[] addresses = start(servers, 3);
            map(servers, addresses).replaceAfter(Duration.ofHours(1)).create().close();
            servers.takesForGone(0, 1L << 1);
            await(() -> holds(() -> openAndUse(servers, addresses)));
            servers.awaitFree(1, SERVER_REGIONS);
        }
    }

    /**
     * Two processes have begun to replace servers, and the second did not reach what the first had told: no later
     * process may believe the first alone.
     */
    @Test
    void twoReplacementsThatWereGivenUpAreFollowedByAnother() {
        try (TestServers servers = new TestServers("twice")) {
            String[] addresses = start(servers, 5);
            map(servers, addresses).memory(5 * REGION_BYTES).create().close();
            try (CallingProcess dies = new CallingProcess("twice")) {
                assertEquals(MapCalls.OK, dies.call(addresses[1], MapCalls.SEAL, 1, 1)[0]);
                dies.space(addresses[1]).grow(1);
                long[] next = {1, 4711, 0, 0, 0, 0, 2, 1, 1, 1, 0, 0, 1, 0, -1};
                assertEquals(MapCalls.OK, dies.call(addresses[1], MapCalls.INSTALL, next)[0]);
                assertEquals(MapCalls.OK, dies.call(addresses[2], MapCalls.SEAL, 3, 1)[0]);
                dies.space(addresses[2]).grow(1);
                long[] other = {1, 4712, 0, 0, 0, 0, 4, 2, 1, 1, 0, 3, 1, 1, 1, 0, 1, 0, -1, 1, 1, 0, -1};
                assertEquals(MapCalls.OK, dies.call(addresses[2], MapCalls.INSTALL, other)[0]);
            }
            servers.stop(0);
            String[] left = {addresses[1], addresses[2], addresses[3], addresses[4]};
            await(() -> holds(() -> openAndUse(servers, left)));
            try (FarMap map = servers.named(left).open()) {
                assertEquals(3, map.servers().size());
            }
        }
    }

    /** The first of those that are left has less than its share of the memory, and together they have enough. */
    @Test
    void theOthersMemoryIsUsedToTheLastRegion() {
        try (TestServers servers = new TestServers("memory")) {
            String[] addresses = {
                servers.start(5, REGION_BYTES, LEASE_NANOS),
                servers.start(5, REGION_BYTES, LEASE_NANOS),
                servers.start(7, REGION_BYTES, LEASE_NANOS)
            };
            try (FarMap map = map(servers, addresses).memory(12 * REGION_BYTES).create();
                    MapSession session = map.openSession()) {
                servers.stop(0);
                await(() -> holds(() -> setAll(session, new HashSet<>())));
                assertEquals(0, servers.freeRegions(0));
                assertEquals(0, servers.freeRegions(1));
            }
        }
    }

    /** What an operator says of one server holds for no other. */
    @Test
    void anOperatorSpeaksOfOneServerAlone() {
        try (TestServers servers = new TestServers("alone")) {
            String[] addresses = start(servers, 6);
            String[] made = {addresses[0], addresses[1], addresses[2], addresses[3], addresses[4]};
            FarMapBuilder maker = map(servers, made).memory(5 * REGION_BYTES).replaceAfter(Duration.ofHours(1));
            try (FarMap map = maker.create()) {
                map.addServer(addresses[5], REGION_BYTES);
            }
            FarMapBuilder withoutJoined = servers.named(
                            addresses[0], addresses[1], addresses[2], addresses[3], addresses[5])
                    .withoutServer(addresses[5]);
            servers.stop(5);
            String unnamed =
                    assertThrows(MapException.class, withoutJoined::open).getMessage();
            assertTrue(unnamed.contains("1 of these were not named"), unnamed);
            servers.stop(4);
            servers.stop(3);
            FarMapBuilder withoutOne = servers.named(made).withoutServer(made[3]);
            String refused =
                    assertThrows(ControlException.class, withoutOne::open).getMessage();
            assertTrue(refused.contains("for 3600000 ms"), refused);
        }
    }

    /** It knew an edition that no process has used, and was replaced then. */
    @Test
    void whatAServerThatHasLeftSaysOfOthersDoesNotCount() {
        try (TestServers servers = new TestServers("left")) {
            String[] addresses = start(servers, 5);
            map(servers, addresses).memory(5 * REGION_BYTES).create().close();
            try (CallingProcess calls = new CallingProcess("left")) {
                assertEquals(MapCalls.OK, calls.call(addresses[2], MapCalls.SEAL, 3, 1)[0]);
                long[] unused = {1, 4711, 0, 0, 0, 0, 4, 3, 1, 1, 0, 3, 2, 1, 1, 0, 1, 0, -1, 1, 1, 0, -1};
                assertEquals(MapCalls.OK, calls.call(addresses[2], MapCalls.INSTALL, unused)[0]);
                calls.space(addresses[0]).grow(1);
                long[] used = {1, 4712, 0, 0, 0, 0, 2, 0, 1, 1, 2, 2, 1, 0, -1};
                for (int server : new int[] {0, 1, 3, 4}) {
                    assertEquals(MapCalls.OK, calls.call(addresses[server], MapCalls.SEAL, 1L << 2, 1)[0]);
                    assertEquals(MapCalls.OK, calls.call(addresses[server], MapCalls.INSTALL, used)[0]);
                }
            }
            servers.stop(4);
            FarMapBuilder without = servers.named(addresses).withoutServer(addresses[4]);
            try (FarMap map = without.open();
                    MapSession session = map.openSession()) {
                assertEquals(3, map.servers().size());
                setAll(session, new HashSet<>());
                assertEquals(OBJECTS, found(session).size());
            }
        }
    }

    /** The table's part is made again first; then the map is opened without the other one, which is taken out. */
    @Test
    void aServerWithTheTableAndOneThatHasJoinedAreLostAtATime() {
        try (TestServers servers = new TestServers("both")) {
            String[] addresses = start(servers, 4);
            String[] made = {addresses[0], addresses[1], addresses[2]};
            Set<Long> versions = new HashSet<>();
            try (FarMap map = map(servers, made).create();
                    MapSession session = map.openSession();
                    FarMap other = servers.named(made).open()) {
                map.addServer(addresses[3], 2 * REGION_BYTES);
                setAll(session, versions);
                servers.stop(3);
                servers.stop(1);
                await(() -> map.servers().size() == 2
                        && other.servers().size() == 2
                        && holds(() -> setAll(session, versions)));
                assertEquals(OBJECTS, found(session).size());
                TestServers.assertSound(map);
            }
        }
    }

    @Test
    void ofTwoServersNoneIsReplaced() {
        try (TestServers servers = new TestServers("two")) {
            String[] addresses = start(servers, 2);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
                servers.stop(1);
                await(() -> !holds(() -> setAll(session, new HashSet<>())));
                assertTrue(found(session).size() > OBJECTS / 8, "the other's keys");
                assertThrows(RuntimeException.class, () -> servers.named(addresses)
                        .withoutServer(addresses[1])
                        .open());
            }
        }
    }

    /** It has installed the next edition at one server and not at the other; and has taken memory. */
    @Test
    void aReplacementWhoseProcessDiesIsFollowedByAnother() {
        try (TestServers servers = new TestServers("dies")) {
            String[] addresses = start(servers, 3);
            map(servers, addresses).create().close();
            try (CallingProcess dies = new CallingProcess("dies")) {
                for (int i = 0; i < 2; i++) {
                    assertEquals(MapCalls.OK, dies.call(addresses[i], MapCalls.SEAL, 1L << 2, 1)[0]);
                }
                dies.space(addresses[0]).grow(2);
                long[] next = {1, 4711, 0, 0, 0, 0, 2, 0, 2, 2, 2, 2, 2, 0, -1};
                assertEquals(MapCalls.OK, dies.call(addresses[0], MapCalls.INSTALL, next)[0]);
            }
            // The third server answers, and one server says that it has left.
            await(() -> holds(() -> openAndUse(servers, addresses)));
            openAndUse(servers, addresses);
            assertEquals(SERVER_REGIONS - 4, servers.freeRegions(0), "the memory that was taken is used");
            assertEquals(SERVER_REGIONS - 3, servers.freeRegions(1));
            servers.awaitFree(2, SERVER_REGIONS);
        }
    }

    private static void openAndUse(TestServers servers, String... addresses) {
        try (FarMap map = servers.named(addresses).open();
                MapSession session = map.openSession()) {
            setAll(session, new HashSet<>());
            assertEquals(OBJECTS, found(session).size());
            TestServers.assertSound(map);
        } catch (ControlException e) {
            throw new MapException("not yet: " + e.getMessage());
        }
    }

    /** The partition heals before any server has heard of the next edition. */
    @Test
    void aReplacementThatIsGivenUpChangesNothing() {
        try (TestServers servers = new TestServers("heals")) {
            String[] addresses = start(servers, 3);
            try (FarMap map = map(servers, addresses).create();
                    MapSession session = map.openSession()) {
                setAll(session, new HashSet<>());
            }
            try (CallingProcess sealer = new CallingProcess("heals")) {
                assertEquals(MapCalls.OK, sealer.call(addresses[0], MapCalls.SEAL, 1L << 2, 1)[0]);
                assertThrows(MapException.class, () -> servers.named(addresses).open());
            }
            await(() -> holds(() -> {
                try (FarMap map = servers.named(addresses).open();
                        MapSession session = map.openSession()) {
                    assertEquals(OBJECTS, found(session).size());
                }
            }));
        }
    }

    /** Growths, and a server that has joined, are known to those that are left. */
    @Test
    void theFirstServersGrowthsAreKept() {
        try (TestServers servers = new TestServers("growths")) {
            String[] addresses = start(servers, 4);
            String[] made = {addresses[0], addresses[1], addresses[2]};
            try (FarMap map = map(servers, made).create();
                    MapSession session = map.openSession()) {
                map.grow(3 * REGION_BYTES);
                map.addServer(addresses[3], 2 * REGION_BYTES);
                setAll(session, new HashSet<>());
                servers.stop(0);
                await(() -> holds(() -> setAll(session, new HashSet<>()))
                        && map.servers().size() == 3);
                map.grow(3 * REGION_BYTES);
                map.drain(addresses[3], Duration.ofSeconds(20));
                assertEquals(2, map.servers().size());
                assertEquals(OBJECTS, found(session).size());
                await(() -> holds(() -> TestServers.assertSound(map)));
            }
        }
    }
}
