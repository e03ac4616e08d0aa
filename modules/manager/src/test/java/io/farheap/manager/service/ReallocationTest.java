package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.provider.MachineOffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Caches grow with a move, get other objectives, and wait for servers; only the tests advance the clock. */
class ReallocationTest {

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000L;
    private static final long CLIENT = 99;
    private static final long CACHE = 7;
    private static final AllocationCandidate ONE_SIDED = new AllocationCandidate(5, 0);
    private static final String MENU = """
            {"types": [{"name": "dear", "cores": 4, "memory": "4m", "price": 4},
                       {"name": "cheap", "cores": 4, "memory": "8m", "price": 4},
                       {"name": "bare", "memory": "8m", "price": 1}], "move_price": 0.1}""";

    private final MemoryStore store = new MemoryStore();
    private final List<Reclaim> alerts = new ArrayList<>();
    private volatile long now = 1000 * SECOND;
    private ManagerOptions options =
            new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, new Supply(0, 20 * SECOND, 60 * SECOND));
    private ClusterManager cluster = start();

    private ClusterManager start() {
        ClusterManager started = new ClusterManager(store, options, () -> now, () -> now / 1_000_000);
        started.menu(MENU);
        return started;
    }

    private void report(long id, String type, int total, boolean leaving, Map<Long, Integer> held) {
        int taken = held.values().stream().mapToInt(Integer::intValue).sum();
        cluster.report(new ServerReport(
                id,
                "host" + id + ":1",
                type,
                false,
                "d/c/r",
                MIB,
                total,
                total - taken,
                30_000,
                leaving,
                leaving ? 30_000 : 0,
                held));
    }

    private void report(long id, String type, int total) {
        report(id, type, total, false, Map.of());
    }

    private static RegionShare share(long id, int regions) {
        return new RegionShare("host" + id + ":1", regions);
    }

    private Allocation allocate(long id, int regions, AllocationCandidate... candidates) {
        return cluster.allocate(new CacheRequest(id, CLIENT, "cache", regions * MIB, 0, "d/c/r", List.of(candidates)));
    }

    private Allocation described() {
        return cluster.describe(CACHE).allocation();
    }

    private static String refusal(Code code, Runnable call) {
        ControlException refused = assertThrows(ControlException.class, call::run);
        assertEquals(code, refused.code(), refused.getMessage());
        return String.valueOf(refused.getMessage());
    }

    private void attend() {
        cluster.attend(CLIENT, new RecordedNotices(alerts, new ArrayList<>())).renew(Set.of(CACHE));
    }

    private void pass(int seconds, Runnable reports) {
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            reports.run();
            attend();
            cluster.tick();
        }
    }

    /** A cache on server 1, which leaves it and grows onto server 2, because that costs half. */
    private Allocation growToServer2() {
        report(1, "dear", 4);
        allocate(CACHE, 3, ONE_SIDED);
        report(2, "cheap", 8);
        return cluster.reallocate(CACHE, 5 * MIB);
    }

    @Test
    void aCacheGrowsOntoALargerServerAndLeavesItsOwnWhereThatIsCheaper() {
        Allocation growing = growToServer2();
        assertEquals(List.of("host1:1"), growing.left());
        assertEquals(List.of(share(2, 5)), growing.reserved());
        assertEquals(List.of(share(1, 3)), growing.shares());
        assertEquals(growing, cluster.reallocate(CACHE, 5 * MIB), "repeated, it is the same");
        cluster = start();
        report(1, "dear", 4);
        report(2, "cheap", 8);
        assertEquals(growing, cluster.reallocate(CACHE, 5 * MIB), "also by another manager");
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 5, ONE_SIDED));
        List<RegionShare> there = List.of(share(2, 5));
        Allocation grown = cluster.moved(CACHE, growing.generation(), 5 * MIB, ONE_SIDED, there);
        assertEquals(there, grown.shares());
        assertEquals(5 * MIB, grown.capacity());
        assertEquals(List.of(), grown.left());
        assertEquals(List.of(), grown.reserved());
        allocate(8, 4, ONE_SIDED);
    }

    @Test
    void itStaysWhereNobodyWantsToSaveByMoves() {
        options = new ManagerOptions(3 * SECOND, 30 * SECOND, true, 0, Supply.DEFAULT);
        cluster = start();
        Allocation growing = growToServer2();
        assertEquals(List.of(), growing.left());
        assertEquals(List.of(share(1, 1), share(2, 1)), growing.reserved());
    }

    @Test
    void growthWithAMoveThatFailsLeavesTheCacheWhereItSaysThatItIs() {
        Allocation growing = growToServer2();
        List<RegionShare> parts = List.of(share(1, 1), share(2, 2));
        Allocation stays = cluster.moved(CACHE, growing.generation(), 3 * MIB, ONE_SIDED, parts);
        assertEquals(parts, stays.shares());
        assertEquals(3 * MIB, stays.capacity());
        assertEquals(List.of(), stays.reserved());
        allocate(8, 6, ONE_SIDED);
    }

    @Test
    void growthWithAMoveHasItsTimeAndIsGivenUpThen() {
        Allocation growing = growToServer2();
        Runnable reports = () -> {
            report(1, "dear", 4, false, Map.of(CACHE, 3));
            report(2, "cheap", 8);
        };
        pass(300, reports);
        assertEquals(growing, described(), "a move takes longer than to take regions");
        cluster = start();
        pass(610, reports);
        assertEquals(List.of(), described().left());
        assertEquals(3 * MIB, described().capacity());
        refusal(
                Code.INVALID_ARGUMENT,
                () -> cluster.moved(CACHE, growing.generation(), 5 * MIB, null, List.of(share(2, 5))));
    }

    @Test
    void aServerThatLeavesMeanwhileComesFirst() {
        Allocation growing = growToServer2();
        Runnable reports = () -> {
            report(1, "dear", 4, true, Map.of(CACHE, 3));
            report(2, "cheap", 8);
        };
        pass(5, reports);
        // It may be done in a moment, but its client learns that it should give way.
        assertEquals(List.of(List.of()), targets());
        pass(8, reports);
        assertEquals(List.of(List.of(), List.of(share(2, 3))), targets());
        refusal(
                Code.INVALID_ARGUMENT,
                () -> cluster.moved(CACHE, growing.generation(), 5 * MIB, null, List.of(share(2, 5))));
        refusal(Code.BUSY, () -> cluster.moved(CACHE, growing.generation(), 3 * MIB, null, List.of(share(2, 3))));
    }

    private List<List<RegionShare>> targets() {
        return alerts.stream().map(Reclaim::targets).distinct().toList();
    }

    @Test
    void aPlanThatCannotBeWrittenDoesNotHappen() {
        report(1, "dear", 4);
        Allocation before = allocate(CACHE, 3, ONE_SIDED);
        report(2, "cheap", 8);
        store.failing = true;
        refusal(Code.INTERNAL, () -> cluster.reallocate(CACHE, 5 * MIB));
        store.failing = false;
        assertEquals(before, described());
        allocate(8, 8, ONE_SIDED);
    }

    @Test
    void anotherObjectiveReconfiguresAndTakesTheCores() {
        report(1, "dear", 4);
        Allocation before = allocate(CACHE, 2, ONE_SIDED);
        AllocationCandidate threads = new AllocationCandidate(5, 3);
        Allocation planned = cluster.reallocate(CACHE, 2 * MIB, List.of(threads));
        assertEquals(threads, planned.candidate());
        assertEquals(before.shares(), planned.shares());
        assertEquals(List.of(), planned.reserved());
        assertEquals(List.of(), planned.left());
        assertEquals(planned, cluster.reallocate(CACHE, 2 * MIB, List.of(threads)));
        refusal(Code.BUSY, () -> cluster.reallocate(CACHE, 2 * MIB, List.of(ONE_SIDED)));
        // From now on no other cache gets the planned cores.
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1, new AllocationCandidate(5, 2)));
        AllocationCandidate other = new AllocationCandidate(5, 1);
        refusal(
                Code.INVALID_ARGUMENT,
                () -> cluster.moved(CACHE, planned.generation(), 2 * MIB, other, planned.shares()));
        cluster = start();
        report(1, "dear", 4);
        Allocation done = cluster.moved(CACHE, planned.generation(), 2 * MIB, threads, planned.shares());
        assertEquals(threads, done.candidate());
        assertEquals(done, cluster.moved(CACHE, done.generation(), 2 * MIB, threads, planned.shares()));
        assertEquals(threads, described().candidate());
    }

    @Test
    void anObjectiveThatItsClientDoesNotTakeIsGivenUp() {
        report(1, "dear", 4);
        allocate(CACHE, 2, ONE_SIDED);
        AllocationCandidate threads = new AllocationCandidate(5, 4);
        Allocation planned = cluster.reallocate(CACHE, 2 * MIB, List.of(threads));
        Allocation stays = cluster.moved(CACHE, planned.generation(), 2 * MIB, ONE_SIDED, planned.shares());
        assertEquals(ONE_SIDED, stays.candidate());
        cluster.reallocate(CACHE, 2 * MIB, List.of(threads));
        pass(12, () -> report(1, "dear", 4, false, Map.of(CACHE, 2)));
        assertEquals(ONE_SIDED, described().candidate());
        allocate(8, 1, threads);
    }

    @Test
    void serversThatCannotServeAnObjectiveAreReplaced() {
        report(1, "bare", 8);
        allocate(CACHE, 4, ONE_SIDED);
        AllocationCandidate threads = new AllocationCandidate(5, 2);
        String refused = refusal(Code.OUT_OF_MEMORY, () -> cluster.reallocate(CACHE, 4 * MIB, List.of(threads)));
        assertTrue(refused.contains("with that objective: other servers have room for 0"), refused);
        report(2, "cheap", 8);
        Allocation planned = cluster.reallocate(CACHE, 6 * MIB, List.of(threads));
        assertEquals(List.of("host1:1"), planned.left());
        assertEquals(List.of(share(2, 6)), planned.reserved());
        Allocation done = cluster.moved(CACHE, planned.generation(), 6 * MIB, threads, planned.reserved());
        assertEquals(threads, done.candidate());
        // The cache moves back to the server that costs less.
        Allocation back = cluster.reallocate(CACHE, 6 * MIB, List.of(ONE_SIDED));
        assertEquals(List.of("host2:1"), back.left());
        assertEquals(List.of(share(1, 6)), back.reserved());
    }

    @Test
    void laterGrowthHasAsManyCoresForEachByte() {
        report(1, "dear", 4);
        allocate(CACHE, 2, ONE_SIDED);
        AllocationCandidate threads = new AllocationCandidate(5, 3);
        Allocation planned = cluster.reallocate(CACHE, 2 * MIB, List.of(threads));
        cluster.moved(CACHE, planned.generation(), 2 * MIB, threads, planned.shares());
        // Each region needs a thread and a half: two regions take 3 of a server's 4 cores.
        report(2, "dear", 4);
        report(3, "dear", 4);
        Allocation growing = cluster.reallocate(CACHE, 5 * MIB);
        assertEquals(
                List.of(2, 1),
                growing.reserved().stream()
                        .map(RegionShare::regions)
                        .sorted((a, b) -> b - a)
                        .toList());
        List<RegionShare> shares = new ArrayList<>(growing.shares());
        shares.addAll(growing.reserved());
        Allocation grown = cluster.moved(CACHE, growing.generation(), 5 * MIB, threads, shares);
        assertEquals(threads, grown.candidate());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1, new AllocationCandidate(5, 3)));
        // The cores of the regions that the cache gives back are free again.
        cluster.moved(CACHE, grown.generation(), 2 * MIB, List.of(share(1, 2)));
        allocate(8, 1, new AllocationCandidate(5, 4));
        allocate(9, 1, new AllocationCandidate(5, 4));
    }

    private Allocation patiently(List<AllocationCandidate> candidates, long capacity) {
        while (true) {
            try {
                return cluster.reallocate(CACHE, capacity, candidates);
            } catch (ControlException e) {
                if (e.code() != Code.BUSY) {
                    throw e;
                }
            }
        }
    }

    private static MachineOffer lot(String type, double price, int regions) {
        return new MachineOffer(type, false, price, MIB, regions, "d/c/r", 30_000, 9);
    }

    private TestProvider provide(MachineOffer... lots) {
        TestProvider provider =
                new TestProvider(cluster::report, machine -> Thread.ofVirtual().start(machine::serve));
        provider.lots = List.of(lots);
        cluster.use(provider, Map.of(), "manager:1");
        return provider;
    }

    @Test
    void aCacheThatFindsNoRoomToGrowHasServersStarted() {
        report(1, "dear", 4);
        allocate(CACHE, 3, ONE_SIDED);
        TestProvider provider = provide(lot("dear", 4, 4));
        Allocation growing = patiently(List.of(), 6 * MIB);
        assertEquals(1, provider.machines.size(), "one region has room, two have not");
        assertEquals(
                3, growing.reserved().stream().mapToInt(RegionShare::regions).sum());
        assertEquals(6 * MIB, store.caches.get(CACHE).wanted());
    }

    @Test
    void anObjectiveHasServersStartedThatCanServeIt() {
        report(1, "bare", 8);
        allocate(CACHE, 4, ONE_SIDED);
        TestProvider provider = provide(lot("bare", 1, 8), lot("cheap", 4, 8));
        AllocationCandidate threads = new AllocationCandidate(5, 2);
        Allocation planned = patiently(List.of(threads), 4 * MIB);
        assertEquals(
                List.of("cheap"),
                provider.machines.stream().map(machine -> machine.lot.type()).toList());
        assertEquals(List.of("host1:1"), planned.left());
        assertEquals(4, planned.reserved().getFirst().regions());
    }

    @Test
    void whereNoServersCanBeHadTheRefusalSaysSo() {
        report(1, "dear", 4);
        allocate(CACHE, 3, ONE_SIDED);
        TestProvider provider = provide(new MachineOffer("dear", false, 4, MIB, 4, "d/c/r", 30_000, 1));
        String refused = refusal(Code.OUT_OF_MEMORY, () -> patiently(List.of(), 100 * MIB));
        assertTrue(refused.contains("but 4 MiB"), refused);
        assertTrue(refused.contains("the provider has no servers that would do"), refused);
        assertEquals(List.of(), provider.machines);
        assertEquals(List.of(), described().reserved());
    }
}
