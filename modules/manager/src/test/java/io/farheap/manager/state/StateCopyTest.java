package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.CacheManager;
import io.farheap.testing.Effort;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Copies between directories and a ZooKeeper, which runs in this process and which others may use, too. */
@Execution(ExecutionMode.CONCURRENT)
class StateCopyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** The number of servers of a state, and also of its caches. */
    private static final int RECORDS = Effort.either(100, 300);

    /** Stands for a SIGKILL: only the steps before it are on disk. */
    private static final class Interruption extends RuntimeException {}

    @TempDir
    private Path directory;

    private EmbeddedZooKeeper server;
    private StateLocation other;
    private StateLocation old;
    private StateLocation young;

    @BeforeEach
    void start() {
        server = EmbeddedZooKeeper.start(directory.resolve("server"));
        other = new StateLocation.ExternalLocation(server.connection());
        old = new StateLocation.StandaloneLocation(directory.resolve("old"));
        young = new StateLocation.StandaloneLocation(directory.resolve("young"));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    /** Calls with the store of a place, opened as its managers open it. */
    private static <T> T at(StateLocation place, Call<T> call) {
        try (ZooKeeperHost host = place.start();
                ZooKeeperStore store = new ZooKeeperStore(host.connection(), PATIENCE)) {
            return call.call(store);
        }
    }

    private interface Call<T> {
        T call(ZooKeeperStore store);
    }

    private static ManagerState load(StateLocation place) {
        return at(place, ZooKeeperStore::load);
    }

    private static void put(StateLocation place, StateChange... changes) {
        at(place, store -> {
            store.write(List.of(changes));
            return 0;
        });
    }

    private static void assertSame(ManagerState expected, ManagerState actual) {
        assertEquals(new HashSet<>(expected.servers()), new HashSet<>(actual.servers()));
        assertEquals(new HashSet<>(expected.caches()), new HashSet<>(actual.caches()));
        assertEquals(expected.menu(), actual.menu());
        assertEquals(new HashSet<>(expected.models()), new HashSet<>(actual.models()));
        assertEquals(new HashSet<>(expected.tenants()), new HashSet<>(actual.tenants()));
        assertEquals(expected.lives(), actual.lives());
    }

    private static String refused(Runnable call, String... why) {
        StateException refused = assertThrows(StateException.class, call::run);
        for (String part : why) {
            assertTrue(refused.getMessage().contains(part), refused::getMessage);
        }
        return refused.getMessage();
    }

    private static void assertMoved(StateLocation from, StateLocation to) {
        refused(() -> load(from), "was copied to " + to, "start managers there");
    }

    /** Some of everything, in several writes, with the menu and a model of the largest size. */
    private static void fill(StateLocation place) {
        long seed = System.nanoTime();
        System.out.println("StateCopyTest.fill: seed " + seed);
        Random random = new Random(seed);
        List<StateChange> changes = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            changes.add(new StateChange.PutCache(Samples.cache(random)));
            changes.add(new StateChange.PutServer(Samples.server(random)));
        }
        changes.add(new StateChange.PutTenant(new TenantRecord("acme", 5, 7)));
        changes.add(new StateChange.PutMenu("{\"types\": []}\n"));
        changes.add(new StateChange.PutModel(new ModelRecord("00fe", "")));
        changes.add(new StateChange.PutLife(new LifeRecord(
                "a/ type",
                3.5,
                List.of(new LifeRecord.LifeSample(0.25, 1, 2, 5), new LifeRecord.LifeSample(7, 0, 1, 0)),
                1e9)));
        put(place, changes.toArray(StateChange[]::new));
        put(place, new StateChange.PutModel(new ModelRecord("00ff", "x".repeat(CacheManager.MAX_MODEL_BYTES))));
    }

    /** Raises the epoch of a place by opening it. */
    private static long open(StateLocation place, int times) {
        long epoch = 0;
        for (int i = 0; i < times; i++) {
            epoch = at(place, StateStore::epoch);
        }
        return epoch;
    }

    @Test
    void everythingGoesToAnotherZooKeeperAndOnAndNothingStartsWhereItWas() {
        fill(old);
        ManagerState state = load(old);
        assertEquals(1, state.lives().size());
        long before = open(old, 3);
        StateStatistics copied = StateCopy.run(old, other);
        assertEquals(RECORDS + " servers, " + RECORDS + " caches, 2 models, 1 quota, a menu", copied.toString());
        assertMoved(old, other);
        assertSame(state, load(other));
        long between = open(other, 1);
        assertTrue(between > before, between + " after " + before);
        put(other, new StateChange.RemoveTenant("acme"), new StateChange.PutCache(Samples.cache(1, 1)));
        ManagerState later = load(other);
        StateCopy.run(other, young);
        assertMoved(other, young);
        assertSame(later, load(young));
        long after = open(young, 1);
        assertTrue(after > between, after + " after " + between);
        // The first place names only the place of its own copy, which is right: that place names the next one.
        assertMoved(old, other);
    }

    @Test
    void anEpochOfManyManagersIsReachedAndKept() throws Exception {
        put(old, new StateChange.PutServer(Samples.server(1)));
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory.resolve("old"));
                ZooKeeperConnection connection = new ZooKeeperConnection(zookeeper.connection(), PATIENCE)) {
            EpochNode node = new EpochNode(connection.client());
            int writes = connection.reads().stat(NodePaths.WRITES).getVersion();
            while (node.see().version() < 10_000) {
                node.raise(node.see().version(), 10_000, writes, new EpochStatus.OpenState());
            }
        }
        StateCopy.run(old, other);
        assertTrue(open(other, 1) > 10_000);
    }

    @Test
    void aStateOfNothingIsCopiedToo() {
        long before = open(old, 2);
        StateCopy.run(old, young);
        assertMoved(old, young);
        assertTrue(open(young, 1) > before);
        assertEquals(List.of(), load(young).caches());
    }

    /** Unknown keys of known records, and nodes that only a newer release knows. */
    @Test
    void whatThisReleaseDoesNotKnowIsCopiedAsItIs() throws Exception {
        put(other, new StateChange.PutServer(Samples.server(1)));
        byte[] newer = (new String(RecordFormat.encode(Samples.server(1)), StandardCharsets.UTF_8) + "colour=blue\n")
                .getBytes(StandardCharsets.UTF_8);
        byte[] revoked = {0, 1, (byte) 0xff};
        try (CuratorFramework operator = operator(server.connection())) {
            operator.setData().forPath(NodePaths.server(1), newer);
            operator.create().creatingParentsIfNeeded().forPath("/farheap/revoked/a/b", revoked);
        }
        assertTrue(StateCopy.run(other, young).toString().contains("of another release"));
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(directory.resolve("young"));
                CuratorFramework operator = operator(zookeeper.connection())) {
            assertArrayEquals(newer, operator.getData().forPath(NodePaths.server(1)));
            assertArrayEquals(revoked, operator.getData().forPath("/farheap/revoked/a/b"));
        }
    }

    private static CuratorFramework operator(String connection) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(connection, new RetryOneTime(100));
        client.start();
        return client;
    }

    /** The copy is refused before it marks anything, so managers of the other release can continue at the old place. */
    @Test
    void recordsThatThisReleaseCannotReadAreRefused() throws Exception {
        put(other, new StateChange.PutServer(Samples.server(1)));
        try (CuratorFramework operator = operator(server.connection())) {
            operator.setData().forPath(NodePaths.server(1), "version=2\n".getBytes(StandardCharsets.UTF_8));
        }
        refused(() -> StateCopy.run(other, young), NodePaths.server(1), "its version is 2");
        refused(() -> load(young), "half made");
        try (CuratorFramework operator = operator(server.connection())) {
            operator.setData().forPath(NodePaths.server(1), RecordFormat.encode(Samples.server(1)));
        }
        assertEquals(List.of(Samples.server(1)), load(other).servers());
        StateCopy.run(other, young);
        assertEquals(List.of(Samples.server(1)), load(young).servers());
    }

    private static void interrupt(StateLocation from, StateLocation to, StateCopy.Step after) {
        Consumer<StateCopy.Step> steps = step -> {
            if (step == after) {
                throw new Interruption();
            }
        };
        StateException failed =
                assertThrows(StateException.class, () -> new StateCopy(from, to, PATIENCE, steps).run());
        assertInstanceOf(Interruption.class, failed.getCause());
    }

    /** The short form interrupts after the steps that it leaves out in {@link #stepsFromAZooKeeper}. */
    static Stream<StateCopy.Step> stepsFromADirectory() {
        return Effort.variants(
                3,
                StateCopy.Step.MARKED,
                StateCopy.Step.WRITTEN,
                StateCopy.Step.MOVED,
                StateCopy.Step.FENCED,
                StateCopy.Step.COMPARED);
    }

    @ParameterizedTest
    @MethodSource("stepsFromADirectory")
    void interruptedFromADirectoryItIsAtOnePlaceAndTheSameOnceMoreCompletesIt(StateCopy.Step after) {
        interruptedItIsAtOnePlace(old, other, after);
    }

    /** The short form interrupts after the steps that depend on the old place: its fence, and the comparison. */
    static Stream<StateCopy.Step> stepsFromAZooKeeper() {
        return Effort.variants(
                2,
                StateCopy.Step.FENCED,
                StateCopy.Step.COMPARED,
                StateCopy.Step.MARKED,
                StateCopy.Step.WRITTEN,
                StateCopy.Step.MOVED);
    }

    @ParameterizedTest
    @MethodSource("stepsFromAZooKeeper")
    void interruptedFromAZooKeeperItIsAtOnePlaceAndTheSameOnceMoreCompletesIt(StateCopy.Step after) {
        interruptedItIsAtOnePlace(other, young, after);
    }

    private void interruptedItIsAtOnePlace(StateLocation from, StateLocation to, StateCopy.Step after) {
        fill(from);
        ManagerState state = load(from);
        long epoch = open(from, 1);
        StateLocation third = new StateLocation.StandaloneLocation(directory.resolve("third"));
        interrupt(from, to, after);
        boolean begun = after != StateCopy.Step.FENCED;
        if (begun) {
            refused(() -> load(to), "half made", "a copy of " + from);
            put(third, new StateChange.PutServer(Samples.server(9)));
            refused(() -> StateCopy.run(third, to), "a copy of " + from, "run that one once more");
            assertEquals(List.of(Samples.server(9)), load(third).servers());
        }
        if (after == StateCopy.Step.MOVED) {
            assertMoved(from, to);
            StateLocation fourth = new StateLocation.StandaloneLocation(directory.resolve("fourth"));
            refused(() -> StateCopy.run(from, fourth), "was copied to " + to);
        } else {
            // The old place stays in use: its later writes are not lost, and records that it removes do not come back.
            assertSame(state, load(from));
            put(from, new StateChange.PutServer(Samples.server(1)), new StateChange.RemoveModel("00fe"));
            state = load(from);
            epoch = open(from, 1);
        }
        StateCopy.run(from, to);
        assertMoved(from, to);
        assertSame(state, load(to));
        assertTrue(open(to, 1) > epoch);
        refused(() -> StateCopy.run(from, to), "was copied to " + to);
        assertSame(state, load(to));
    }

    /** The copy is interrupted while it writes, and not at the end of a step: the new place has half of the state. */
    @Test
    void whatIsHalfMadeIsMadeAnew() {
        put(old, new StateChange.PutModel(new ModelRecord("1", "a".repeat(900_000))));
        put(old, new StateChange.PutModel(new ModelRecord("2", "b".repeat(900_000))));
        put(old, new StateChange.PutModel(new ModelRecord("3", "c".repeat(900_000))));
        interrupt(old, other, StateCopy.Step.WRITTEN);
        put(old, new StateChange.RemoveModel("1"), new StateChange.PutModel(new ModelRecord("2", "d")));
        StateCopy.run(old, other);
        assertEquals(
                Set.of(new ModelRecord("2", "d"), new ModelRecord("3", "c".repeat(900_000))),
                Set.copyOf(load(other).models()));
    }

    @Test
    void aPlaceThatIsNotEmptyIsRefusedAndKept() {
        put(old, new StateChange.PutServer(Samples.server(1)));
        put(other, new StateChange.PutServer(Samples.server(2)), new StateChange.PutCache(Samples.cache(3, 0)));
        refused(() -> StateCopy.run(old, other), "1 server, 1 cache, 0 models", "deleteall");
        put(young, new StateChange.PutMenu("{}"));
        refused(() -> StateCopy.run(old, young), "a menu", "another directory");
        assertEquals(List.of(Samples.server(1)), load(old).servers());
        assertEquals(List.of(Samples.server(2)), load(other).servers());
        assertEquals("{}", load(young).menu());
    }

    @Test
    void aPlaceWhereAStateWasIsRefused() {
        put(old, new StateChange.PutServer(Samples.server(1)));
        StateCopy.run(old, young);
        refused(() -> StateCopy.run(young, old), "was copied to " + young, "another directory");
        assertEquals(List.of(Samples.server(1)), load(young).servers());
        refused(() -> StateCopy.run(young, young), "copy it to another place");
    }

    @Test
    void aDirectoryInUseIsRefused() {
        put(old, new StateChange.PutServer(Samples.server(1)));
        try (ZooKeeperHost running = old.start()) {
            assertTrue(running.running());
            refused(() -> StateCopy.run(old, other), "another manager's, which runs");
            refused(() -> StateCopy.run(new StateLocation.ExternalLocation(server.connection()), old));
        }
        assertEquals(List.of(Samples.server(1)), load(old).servers());
    }

    @Test
    void whereNoStateIsNothingIsCopiedAndNothingMade() {
        refused(() -> StateCopy.run(old, young), "no manager was ever on");
        refused(() -> StateCopy.run(other, young), "no manager has ever kept its state");
        assertFalse(Files.exists(directory.resolve("old")));
        assertFalse(Files.exists(directory.resolve("young")));
        Ensemble ensemble = Ensemble.parse("1@a:1,2@b:1,3@c:1");
        put(old, new StateChange.PutServer(Samples.server(1)));
        refused(
                () -> StateCopy.run(new StateLocation.EnsembleLocation(directory.resolve("old"), 1, ensemble), other),
                "that of a manager with --data alone");
    }

    /** The leader notices the fence by its next write, and no manager leads until the copy is made or given up. */
    @Test
    void aManagerThatLeadsIsFencedAndNoneLeadsMeanwhile() {
        try (ZooKeeperStore leader = new ZooKeeperStore(server.connection(), PATIENCE)) {
            leader.write(List.of(new StateChange.PutServer(Samples.server(1))));
            new StateCopy(other, young, PATIENCE, step -> {
                        assertThrows(
                                StaleEpochException.class,
                                () -> leader.write(List.of(new StateChange.PutServer(Samples.server(2)))),
                                step.toString());
                        if (step != StateCopy.Step.MOVED) {
                            refused(() -> load(other), "is being copied to " + young);
                        }
                    })
                    .run();
            Samples.awaitFollowed(leader);
        }
        assertMoved(other, young);
        assertEquals(List.of(Samples.server(1)), load(young).servers());
    }

    /** The copy's session has ended, for example because the network failed, while the copy continues. */
    @Test
    void whatAnotherHasOpenedMeanwhileIsNotMarkedAsMoved() {
        put(other, new StateChange.PutServer(Samples.server(1)));
        StateCopy copy = new StateCopy(other, young, PATIENCE, step -> {
            if (step == StateCopy.Step.COMPARED) {
                try (CuratorFramework operator = operator(server.connection())) {
                    operator.delete().forPath(NodePaths.COPYING);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
                put(other, new StateChange.PutServer(Samples.server(2)));
            }
        });
        refused(copy::run, "a manager has opened " + other + " meanwhile");
        refused(() -> load(young), "half made");
        assertEquals(2, load(other).servers().size());
        StateCopy.run(other, young);
        assertEquals(2, load(young).servers().size());
    }

    /** Two copies from different places run at the same time: the later one is refused, and the first continues. */
    @Test
    void oneOfTwoCopiesToOnePlaceIsRefused() {
        put(old, new StateChange.PutServer(Samples.server(1)));
        put(young, new StateChange.PutServer(Samples.server(2)));
        new StateCopy(old, other, PATIENCE, step -> {
                    if (step == StateCopy.Step.MARKED) {
                        refused(() -> StateCopy.run(young, other), "has a copy of " + old);
                    }
                })
                .run();
        assertEquals(List.of(Samples.server(1)), load(other).servers());
        assertEquals(List.of(Samples.server(2)), load(young).servers());
    }

    /** A leader of the empty state at the new place, which writes at the worst moment. */
    @Test
    void whatIsWrittenThereWhileItBeginsIsNotLost() {
        put(old, new StateChange.PutServer(Samples.server(1)));
        try (ZooKeeperStore leader = new ZooKeeperStore(server.connection(), PATIENCE)) {
            StateCopy copy = new StateCopy(old, other, PATIENCE, step -> {
                if (step == StateCopy.Step.FENCED) {
                    leader.write(List.of(new StateChange.PutServer(Samples.server(2))));
                }
            });
            refused(copy::run, "is not empty", "1 server");
            assertEquals(List.of(Samples.server(2)), leader.load().servers());
        }
        assertEquals(List.of(Samples.server(1)), load(old).servers());
    }

    @Test
    void whatIsWrittenThereBetweenTheLookAndTheMarkIsNoticed() throws Exception {
        try (ZooKeeperStore leader = new ZooKeeperStore(server.connection(), PATIENCE);
                ZooKeeperConnection connection = new ZooKeeperConnection(server.connection(), PATIENCE)) {
            EpochNode node = new EpochNode(connection.client());
            int written = connection.reads().stat(NodePaths.WRITES).getVersion();
            int version = node.see().version();
            leader.write(List.of(new StateChange.PutServer(Samples.server(1))));
            assertThrows(
                    KeeperException.BadVersionException.class,
                    () -> node.raise(version, version, written, new EpochStatus.IncompleteCopy("1", "a test")));
            assertEquals(List.of(Samples.server(1)), leader.load().servers());
        }
    }

    /** An operator changes the new place during the copy. */
    @Test
    void aCopyThatIsNotTheSameIsNotMarkedAsComplete() {
        put(old, new StateChange.PutServer(Samples.server(1)));
        for (String what : List.of("change", "add", "remove")) {
            StateCopy copy = new StateCopy(old, other, PATIENCE, step -> {
                if (step == StateCopy.Step.WRITTEN) {
                    try (CuratorFramework operator = operator(server.connection())) {
                        switch (what) {
                            case "change" -> operator.setData().forPath(NodePaths.server(1), new byte[1]);
                            case "add" -> operator.create().forPath(NodePaths.server(2), new byte[1]);
                            default -> operator.delete().forPath(NodePaths.server(1));
                        }
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                }
            });
            refused(copy::run, NodePaths.SERVERS, "another process writes there");
            refused(() -> load(other), "half made");
            assertEquals(List.of(Samples.server(1)), load(old).servers());
        }
        StateCopy.run(old, other);
        assertEquals(List.of(Samples.server(1)), load(other).servers());
    }

    @Test
    void cachesOfAllBucketsAreCopiedInManyWrites() {
        Set<CacheRecord> caches = new HashSet<>();
        for (int i = 0; i < 10_000; i++) {
            caches.add(Samples.cache(i * 0x9E3779B97F4A7C15L, i));
        }
        List<CacheRecord> rest = List.copyOf(caches);
        at(old, store -> {
            for (int from = 0; from < rest.size(); from += 2_000) {
                store.write(rest.subList(from, from + 2_000).stream()
                        .<StateChange>map(StateChange.PutCache::new)
                        .toList());
            }
            return 0;
        });
        List<StateCopy.Step> steps = new ArrayList<>();
        assertEquals(
                caches.size(),
                new StateCopy(old, young, PATIENCE, steps::add).run().caches());
        long writes = steps.stream().filter(StateCopy.Step.WRITTEN::equals).count();
        assertTrue(writes > 2 && writes < 20, writes + " writes");
        ManagerState copied = load(young);
        assertEquals(caches.size(), copied.caches().size());
        assertEquals(caches, new HashSet<>(copied.caches()));
    }

    @Test
    void aLargeRecordIsCopied() {
        CacheRecord large =
                new CacheRecord(1, "x".repeat(999_000), 1, 0, 1, Samples.TERMS, 0, new TreeMap<>(), new TreeMap<>());
        put(old, new StateChange.PutCache(large));
        put(old, new StateChange.PutServer(Samples.server(1)));
        StateCopy.run(old, young);
        assertEquals(List.of(large), load(young).caches());
    }
}
