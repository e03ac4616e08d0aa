package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.RegionShare;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.measure.ModelSubjects;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.Slo;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Caches that get other capacities and objectives from a manager that knows what servers cost, each in a process. */
@Needs(Need.HOST)
class ManagedReshapeTest {

    private static final long MIB = 1 << 20;
    private static final int WORDS = 256;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);
    /**
     * For an hour a region costs 1 on dear, 0.5 on cheap, 0.5 on bare and 0.6 on cores, and moving a region costs 8. So
     * in a day it does not pay to move regions from dear, but it does if as many new regions would be there.
     */
    private static final String MENU = """
            {"types": [{"name": "dear", "cores": 4, "memory": "6m", "price": 6},
                       {"name": "cheap", "cores": 4, "memory": "12m", "price": 6},
                       {"name": "bare", "memory": "8m", "price": 4},
                       {"name": "cores", "cores": 4, "memory": "10m", "price": 6}], "move_price": 8192}""";

    private static final Slo SLOW = reads(1.5e5);
    /** An objective that needs server threads. */
    private static final Slo FAST = reads(5e5);

    @TempDir
    private Path directory;

    private ManagerProcess manager;
    private ManagerClient client;
    private final List<ServerProcess> servers = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        Path menu = Files.writeString(directory.resolve("menu"), MENU);
        manager = ManagerProcess.start(
                Devices.library(),
                "127.0.0.1:0",
                "--data",
                directory.resolve("data").toString(),
                "--menu",
                menu.toString());
        client = ManagerClient.connect(manager.address());
    }

    @AfterEach
    void close() {
        client.close();
        servers.forEach(ServerProcess::close);
        manager.close();
    }

    private static Slo reads(double perSecond) {
        return new Slo(new Objective(1e9, perSecond), Objective.NONE);
    }

    private ServerProcess serve(String type, int regions) throws InterruptedException {
        ServerProcess server = TestServer.start(regions * MIB, MIB, "--manager", manager.address(), "--type", type);
        servers.add(server);
        await(() -> client.servers().stream().anyMatch(one -> one.address().equals(server.address())));
        return server;
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it does not come about");
            Thread.sleep(20);
        }
    }

    /** 100,000 operations a second for each client thread, and five times as many with a server thread. */
    private static PerformanceModel model() {
        try (Context context = Devices.open(TestDevice.client())) {
            MeasurementPlan plan = new MeasurementPlan(ModelSubjects.of(context, 0, 64, 50, 2, 2));
            while (!plan.complete()) {
                var how = plan.next();
                double rate = 1e5 * how.clientThreads() * (1 + 4 * how.serverThreads());
                plan.record(new Performance(1_000, rate, 1_000, rate));
            }
            return plan.model();
        }
    }

    private Cache create(long capacity) {
        return Cache.builder()
                .capacity(capacity)
                .manager(manager.address())
                .device(TestDevice.client())
                .create();
    }

    private Cache create(long capacity, Slo slo) {
        return Cache.builder()
                .capacity(capacity)
                .manager(manager.address())
                .model(model())
                .slo(slo)
                .device(TestDevice.client())
                .create();
    }

    private Allocation told(Cache cache) {
        return client.describe(cache.id()).allocation();
    }

    private static void write(Cache cache, CacheSession session, Buffer buffer, long value) {
        for (int word = 0; word < WORDS; word++) {
            buffer.segment().set(JAVA_LONG, 0, value + word);
            session.writeBlocking(at(cache, word), buffer, 0, 8);
        }
    }

    private static long at(Cache cache, int word) {
        return word * (cache.capacity() / WORDS) & -8;
    }

    private static void check(long capacity, CacheSession session, Buffer buffer, long value) {
        for (int word = 0; word < WORDS; word++) {
            session.readBlocking(word * (capacity / WORDS) & -8, buffer, 0, 8);
            assertEquals(value + word, buffer.segment().get(JAVA_LONG, 0), "word " + word);
        }
    }

    @Test
    void aCacheGrowsOntoALargerServerUnderLoadAndLeavesItsOwn() throws Exception {
        ServerProcess dear = serve("dear", 6);
        try (Cache cache = create(3 * MIB);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(cache, session, buffer, 1);
            ServerProcess cheap = serve("cheap", 12);
            AtomicLong written = new AtomicLong();
            Thread load = Thread.ofPlatform().start(() -> load(cache, written));
            await(() -> written.get() > 10);
            assertEquals(List.of(dear.address()), cache.servers(), "what it has is not worth a move");
            cache.reshape(6 * MIB);
            long before = written.get();
            await(() -> written.get() > before + 10);
            load.interrupt();
            load.join();

            assertEquals(6 * MIB, cache.capacity());
            assertEquals(List.of(cheap.address()), cache.servers());
            assertEquals(
                    List.of(new RegionShare(cheap.address(), 6)), told(cache).shares());
            assertEquals(6 * MIB, told(cache).capacity());
            assertEquals(List.of(), told(cache).left());
            check(3 * MIB, session, buffer, 1);
            session.readBlocking(6 * MIB - 16, buffer, 0, 8);
            assertEquals(0, buffer.segment().get(JAVA_LONG, 0), "what is new is zero");
            await(() -> client.servers().stream()
                    .anyMatch(one -> one.address().equals(dear.address()) && one.freeRegions() == 6));
        }
    }

    /** Writes and reads back a word that no other thread uses, again and again. */
    private static void load(Cache cache, AtomicLong written) {
        try (CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(16)) {
            for (long value = 1; !Thread.currentThread().isInterrupted(); value++) {
                buffer.segment().set(JAVA_LONG, 0, value);
                session.writeBlocking(3 * MIB - 8, buffer, 0, 8);
                session.readBlocking(3 * MIB - 8, buffer, 8, 8);
                assertEquals(value, buffer.segment().get(JAVA_LONG, 8));
                written.set(value);
            }
        }
    }

    @Test
    @Tag("full")
    void growthThatFailsChangesNothing() throws Exception {
        serve("dear", 6);
        try (Cache cache = create(3 * MIB);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(cache, session, buffer, 5);
            Allocation before = told(cache);
            ServerProcess cheap = serve("cheap", 12);
            // The manager does not know yet that the server has ended.
            cheap.kill();
            assertThrows(CacheException.class, () -> cache.reshape(8 * MIB));
            assertEquals(3 * MIB, cache.capacity());
            check(3 * MIB, session, buffer, 5);
            await(() -> told(cache).reserved().isEmpty() && told(cache).left().isEmpty());
            assertEquals(before.shares(), told(cache).shares());
            assertEquals(3 * MIB, told(cache).capacity());
            // The cache can still grow as far as there is room.
            await(() -> client.servers().size() == 1);
            cache.reshape(6 * MIB);
            assertEquals(6 * MIB, told(cache).capacity());
            check(3 * MIB, session, buffer, 5);
        }
    }

    @Test
    @Tag("full")
    void anotherObjectiveReplacesServersThatCannotServeItAndIsRemembered() throws Exception {
        ServerProcess bare = serve("bare", 8);
        try (Cache cache = create(4 * MIB, SLOW);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(cache, session, buffer, 9);
            CacheConfiguration oneSided = cache.configuration();
            assertEquals(0, oneSided.serverThreads());
            CacheException refused = assertThrows(CacheException.class, () -> cache.reshape(FAST));
            assertTrue(refused.getMessage().contains("cannot have 4 MiB with that objective"), refused.getMessage());
            assertEquals(oneSided, cache.configuration());
            assertEquals(SLOW, cache.explanation().orElseThrow().slo());

            ServerProcess cores = serve("cores", 10);
            cache.reshape(5 * MIB, FAST);
            int threads = cache.configuration().serverThreads();
            assertTrue(threads > 0, "it takes server threads");
            assertEquals(FAST, cache.explanation().orElseThrow().slo());
            assertEquals(List.of(cores.address()), cache.servers());
            assertEquals(new AllocationCandidate(5, threads), told(cache).candidate());
            assertEquals(
                    List.of(new RegionShare(cores.address(), 5)), told(cache).shares());
            check(4 * MIB, session, buffer, 9);

            // Cores grow with the bytes: the server's 4 cores suffice for no more than this.
            long most = 5 * MIB * 4 / threads;
            assertTrue(most < 100 * MIB);
            assertThrows(CacheException.class, () -> cache.reshape(100 * MIB, FAST));
            assertEquals(5 * MIB, cache.capacity());
            assertEquals(new AllocationCandidate(5, threads), told(cache).candidate());
            check(4 * MIB, session, buffer, 9);

            cache.reshape(2 * MIB, SLOW);
            assertEquals(oneSided, cache.configuration());
            assertEquals(new AllocationCandidate(5, 0), told(cache).candidate());
            assertEquals(2 * MIB, told(cache).capacity());
            assertEquals(
                    2,
                    told(cache).shares().stream().mapToInt(RegionShare::regions).sum());
            for (int word = 0; word < WORDS / 2; word++) {
                session.readBlocking(word * (4 * MIB / WORDS) & -8, buffer, 0, 8);
                assertEquals(9 + word, buffer.segment().get(JAVA_LONG, 0));
            }
            await(() ->
                    client.servers().stream().mapToInt(one -> one.freeRegions()).sum() == 16);
            assertEquals(2, cache.regions());
            assertTrue(bare.pid() > 0);
        }
    }

    @Test
    @Tag("full")
    void anObjectiveThatItsServersCanServeMovesNothing() throws Exception {
        serve("cores", 5);
        serve("cores", 5);
        try (Cache cache = create(8 * MIB, SLOW);
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(cache, session, buffer, 3);
            List<RegionShare> shares = told(cache).shares();
            cache.reshape(FAST);
            assertTrue(cache.configuration().serverThreads() > 0);
            Allocation told = told(cache);
            assertEquals(cache.configuration().serverThreads(), told.candidate().serverThreads());
            assertEquals(sorted(shares), sorted(told.shares()));
            check(8 * MIB, session, buffer, 3);
            cache.retune();
            check(8 * MIB, session, buffer, 3);
        }
    }

    /** The change fails after room was reserved and taken, when the cache is reconfigured. */
    @Test
    @Tag("full")
    void anObjectiveThatFailsAfterItWasPlannedIsUndone() throws Exception {
        ServerProcess bare = serve("bare", 8);
        try (Cache cache = create(4 * MIB, SLOW);
                CacheSession session = cache.openSession();
                CacheSession silent = cache.openSession();
                Buffer buffer = cache.allocate(8)) {
            write(cache, session, buffer, 4);
            CacheConfiguration before = cache.configuration();
            ServerProcess cores = serve("cores", 10);
            assertTrue(silent.read(0, buffer, 0, 8, (status, token) -> {}, 0));
            assertThrows(CacheException.class, () -> cache.reshape(6 * MIB, FAST));
            silent.drain();
            assertEquals(before, cache.configuration());
            assertEquals(SLOW, cache.explanation().orElseThrow().slo());
            assertEquals(4 * MIB, cache.capacity());
            check(4 * MIB, session, buffer, 4);
            await(() -> told(cache).reserved().isEmpty() && told(cache).left().isEmpty());
            assertEquals(new AllocationCandidate(5, 0), told(cache).candidate());
            assertEquals(
                    List.of(new RegionShare(bare.address(), 4)), told(cache).shares());
            assertEquals(List.of(bare.address()), cache.servers());
            await(() -> client.servers().stream()
                    .anyMatch(one -> one.address().equals(cores.address()) && one.freeRegions() == 10));
            cache.reshape(6 * MIB, FAST);
            assertEquals(List.of(cores.address()), cache.servers());
            check(4 * MIB, session, buffer, 4);
        }
    }

    /** As if the answer to the cache's report had been lost, and the cache had undone its change. */
    @Test
    @Tag("full")
    void aManagerThatHasAnotherConfigurationThanTheCacheIsToldAnew() throws Exception {
        serve("cores", 10);
        try (Cache cache = create(4 * MIB, SLOW)) {
            AllocationCandidate own = told(cache).candidate();
            AllocationCandidate other = new AllocationCandidate(own.switches(), 1);
            Allocation plan = client.reallocate(cache.id(), 4 * MIB, List.of(other));
            client.moved(cache.id(), plan.generation(), 4 * MIB, other, plan.shares());
            assertEquals(other, told(cache).candidate());
            cache.reshape(3 * MIB);
            await(() -> told(cache).candidate().equals(own) && told(cache).capacity() == 3 * MIB);
            assertEquals(3, told(cache).shares().getFirst().regions());
        }
    }

    private static List<RegionShare> sorted(List<RegionShare> shares) {
        return shares.stream()
                .sorted(Comparator.comparing(RegionShare::address))
                .toList();
    }
}
