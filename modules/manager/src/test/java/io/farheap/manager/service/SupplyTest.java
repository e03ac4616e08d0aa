package io.farheap.manager.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.Durations;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.provider.MachineOffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Servers that a manager has started, and servers that it keeps ready; only the tests advance the clock. */
class SupplyTest {

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000L;
    private static final long CLIENT = 99;
    private static final String MENU = """
            {"types": [{"name": "small", "cores": 2, "memory": "4m", "price": 1, "spot_price": 0.5},
                       {"name": "large", "cores": 8, "memory": "16m", "price": 3},
                       {"name": "bare", "memory": "16m", "price": 2}]}""";

    private static MachineOffer lot(String type, boolean spot, double price, int regions, int available) {
        return new MachineOffer(type, spot, price, MIB, regions, "d/c/r", 30_000, available);
    }

    private static final MachineOffer SMALL = lot("small", false, 1, 4, 9);
    private static final MachineOffer SMALL_SPOT = lot("small", true, 0.5, 4, 9);
    private static final MachineOffer LARGE = lot("large", false, 3, 16, 9);

    private final MemoryStore store = new MemoryStore();
    private volatile long now = 1000 * SECOND;
    private final List<Reclaim> alerts = new ArrayList<>();
    private ClusterManager cluster;
    private TestProvider provider;
    private int starts;

    private void start(int spares) {
        ManagerOptions options =
                new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, new Supply(spares, 20 * SECOND, 60 * SECOND));
        cluster = new ClusterManager(store, options, () -> now, () -> now / 1_000_000);
        cluster.menu(MENU);
    }

    private void start(int spares, Consumer<TestProvider.TestMachine> starting, MachineOffer... lots) {
        start(spares);
        provider = new TestProvider(cluster::report, machine -> {
            starts++;
            starting.accept(machine);
        });
        provider.lots = List.of(lots);
        cluster.use(provider, Map.of(), "manager:1");
    }

    /** Serves on another thread, as with a provider, because the manager holds its lock. */
    private static void serveSoon(TestProvider.TestMachine machine) {
        Thread.ofVirtual().start(machine::serve);
    }

    private Allocation allocate(long id, int regions, long hours, AllocationCandidate... candidates) {
        List<AllocationCandidate> all = candidates.length == 0 ? List.of(AllocationCandidate.ANY) : List.of(candidates);
        return allocate(new CacheRequest(id, CLIENT, "cache", regions * MIB, hours * 3_600_000, "d/c/r", all));
    }

    /** Asks again while servers start, as clients do. */
    private Allocation allocate(CacheRequest request) {
        while (true) {
            try {
                return cluster.allocate(request);
            } catch (ControlException e) {
                if (e.code() != Code.BUSY) {
                    throw e;
                }
            }
        }
    }

    private String refusal(long id, int regions) {
        ControlException refused = assertThrows(ControlException.class, () -> allocate(id, regions, 0));
        assertEquals(Code.OUT_OF_MEMORY, refused.code(), refused.getMessage());
        return String.valueOf(refused.getMessage());
    }

    private List<String> started() {
        return provider.machines.stream()
                .map(machine -> machine.lot.toString())
                .sorted()
                .toList();
    }

    private void report(long id, int total, boolean leaving, Map<Long, Integer> held) {
        int taken = held.values().stream().mapToInt(Integer::intValue).sum();
        cluster.report(new ServerReport(
                id,
                "own" + id + ":1",
                "small",
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

    private void attend(long cacheId) {
        cluster.attend(CLIENT, new RecordedNotices(alerts, new ArrayList<>())).renew(Set.of(cacheId));
    }

    @Test
    void anAllocationWithoutRoomHasTheCheapestServersStarted() {
        start(0, SupplyTest::serveSoon, SMALL, SMALL_SPOT, LARGE);
        allocate(7, 3, 0);
        assertEquals(List.of("small"), started());
        allocate(8, 9, 0);
        assertEquals(List.of("small", "small", "small"), started(), "one region has room, two small are cheaper");
        allocate(9, 13, 0);
        assertEquals(List.of("large", "small", "small", "small"), started(), "one large is cheaper");
        allocate(11, 3, 0);
        assertEquals(4, provider.machines.size(), "there was room");
        allocate(10, 4, 1);
        assertEquals(List.of("large", "small", "small", "small", "small (spot)"), started(), "what ends takes spot");
    }

    @Test
    void aServerHasTheCoresThatTheConfigurationTakes() {
        start(0, SupplyTest::serveSoon, SMALL, LARGE, lot("bare", false, 2, 16, 9));
        allocate(7, 16, 0, new AllocationCandidate(5, 1));
        assertEquals(List.of("large"), started());
        allocate(8, 16, 0);
        assertEquals(List.of("bare", "large"), started());
    }

    @Test
    void aServerThatReportsBeforeItsProviderSaysSoIsThere() {
        start(0, machine -> Thread.ofVirtual().start(machine::serveTheOtherWayRound), SMALL);
        allocate(7, 4, 0);
        allocate(8, 4, 0);
        cluster.deallocate(7);
        cluster.deallocate(8);
        assertEquals(2, provider.machines.size());
        // The manager would never stop a server that it did not know as idle.
        while (!provider.machines.stream().allMatch(machine -> machine.stopped)) {
            now += SECOND;
            cluster.tick();
        }
    }

    @Test
    void aServerIsNearEnough() {
        MachineOffer far = new MachineOffer("large", false, 1, MIB, 16, "d/c2/r", 30_000, 9);
        start(0, SupplyTest::serveSoon, SMALL, far);
        allocate(7, 4, 0, new AllocationCandidate(3, 0));
        assertEquals(List.of("small"), started());
        allocate(8, 4, 0, new AllocationCandidate(5, 0));
        assertEquals(List.of("small", "small"), started(), "as cheap, and the fewest regions left");
    }

    @Test
    void whereNothingCanBeHadTheRefusalSaysSo() {
        start(0, SupplyTest::serveSoon, lot("small", false, 1, 4, 2));
        String refused = refusal(7, 9);
        assertTrue(refused.contains("the provider has no servers that would do"), refused);
        assertEquals(List.of(), provider.machines);
    }

    @Test
    void whatDoesNotStartIsTriedAgainAndThenSaid() {
        start(0, machine -> Thread.ofVirtual().start(() -> machine.fail("no socket")), SMALL);
        String refused = refusal(7, 4);
        assertTrue(refused.endsWith("; a server of type small does not start: no socket"), refused);
    }

    @Test
    void whatDoesNotComeInTimeIsSaid() {
        start(0, _ -> {}, SMALL);
        Thread later = Thread.ofVirtual().start(() -> {
            while (provider.machines.isEmpty()) {
                Thread.onSpinWait();
            }
            now += 21 * SECOND;
            provider.tellAvailable("small");
        });
        String refused = refusal(7, 4);
        assertTrue(refused.contains("did not come within 20 s"), refused);
        assertEquals(1, provider.machines.size());
        assertFalse(later.isInterrupted());
    }

    @Test
    void whileServersStartItAsksAgainAndNoMoreAreStarted() {
        start(0, _ -> {}, SMALL);
        CacheRequest request = new CacheRequest(7, CLIENT, "cache", MIB, 0, "", List.of(AllocationCandidate.ANY));
        assertEquals(
                Code.BUSY,
                assertThrows(ControlException.class, () -> cluster.allocate(request))
                        .code());
        provider.tellAvailable("large");
        Thread serving =
                Thread.ofVirtual().unstarted(() -> provider.machines.getFirst().serve());
        serving.start();
        assertEquals("host100:1", allocate(request).shares().getFirst().address());
        assertEquals(1, provider.machines.size());
    }

    @Test
    void anEmptyServerIsStopped() {
        start(0, SupplyTest::serveSoon, SMALL);
        allocate(7, 4, 0);
        TestProvider.TestMachine machine = provider.machines.getFirst();
        for (int i = 0; i < 70; i++) {
            now += SECOND;
            machine.report(0, Map.of(7L, 4));
            cluster.tick();
        }
        assertFalse(machine.stopped);
        cluster.deallocate(7);
        for (int i = 0; i < 59; i++) {
            now += SECOND;
            machine.report(4, Map.of());
            cluster.tick();
        }
        assertFalse(machine.stopped);
        for (int i = 0; i < 3; i++) {
            now += SECOND;
            machine.report(4, Map.of());
            cluster.tick();
        }
        assertTrue(machine.stopped);
    }

    /** A cache that has come since its last report may be cut off together with it. */
    @Test
    void aSilentServerIsNotStoppedThoughItsLastReportSaysThatItIsEmpty() {
        start(0, SupplyTest::serveSoon, SMALL);
        allocate(7, 4, 0);
        cluster.deallocate(7);
        TestProvider.TestMachine machine = provider.machines.getFirst();
        machine.report(4, Map.of());
        for (int i = 0; i < 90; i++) {
            now += SECOND;
            report(1, 4, false, Map.of());
            cluster.tick();
        }
        assertFalse(machine.stopped);
        for (int i = 0; i < 59; i++) {
            now += SECOND;
            machine.report(4, Map.of());
            cluster.tick();
        }
        assertFalse(machine.stopped);
        now += 3 * SECOND;
        machine.report(4, Map.of());
        cluster.tick();
        assertTrue(machine.stopped);
    }

    /** Caches of the manager that leads now may be there, of which this one knows nothing. */
    @Test
    void aManagerThatWasFollowedStopsNothing() {
        start(0, SupplyTest::serveSoon, SMALL);
        allocate(7, 4, 0);
        cluster.deallocate(7);
        TestProvider.TestMachine machine = provider.machines.getFirst();
        store.followed = true;
        refusedTicks(70, Code.UNAVAILABLE);
        assertFalse(machine.stopped);
    }

    /** A server that has not registered with this manager may have registered with the one that leads now. */
    @Test
    void aManagerThatWasFollowedStopsNoMachineThatHasNotRegistered() {
        start(1, _ -> {}, SMALL);
        now += SECOND;
        cluster.tick();
        TestProvider.TestMachine machine = provider.machines.getFirst();
        store.followed = true;
        refusedTicks(610, Code.UNAVAILABLE);
        assertFalse(machine.stopped);
        store.followed = false;
        now += SECOND;
        cluster.tick();
        assertTrue(machine.stopped);
    }

    /** What is not on disk is not done, and is tried again. */
    @Test
    void aServerIsStoppedOnceThatIsOnDisk() {
        start(0, SupplyTest::serveSoon, SMALL);
        allocate(7, 4, 0);
        cluster.deallocate(7);
        TestProvider.TestMachine machine = provider.machines.getFirst();
        store.failing = true;
        refusedTicks(70, Code.INTERNAL);
        assertFalse(machine.stopped);
        store.failing = false;
        machine.report(4, Map.of());
        assertEquals(List.of(new RegionShare("host100:1", 4)), allocate(9, 4, 0).shares());
        now += SECOND;
        cluster.tick();
        assertFalse(machine.stopped, "it has got a cache meanwhile");
    }

    /** @param code of the refusals of the ticks that would stop something */
    private void refusedTicks(int seconds, Code code) {
        int refused = 0;
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            try {
                provider.machines.getFirst().report(4, Map.of());
                cluster.tick();
            } catch (ControlException e) {
                assertEquals(code, e.code());
                refused++;
            }
        }
        assertTrue(refused > 0, "nothing was to be stopped");
    }

    /** It would be paid for although no cache uses it, and so would those behind it. */
    @Test
    void aMachineThatCannotBeStoppedKeepsNoOtherRunningAndIsTriedAgain() {
        start(0, SupplyTest::serveSoon, SMALL);
        allocate(7, 4, 0);
        allocate(8, 4, 0);
        cluster.deallocate(7);
        cluster.deallocate(8);
        provider.machines.getFirst().stuck = true;
        seconds(70);
        assertFalse(provider.machines.getFirst().stopped);
        assertTrue(provider.machines.getLast().stopped);
        provider.machines.getFirst().stuck = false;
        seconds(12);
        assertTrue(provider.machines.getFirst().stopped);
    }

    /** Lets time pass in which the machines report that they are empty. */
    private void seconds(int count) {
        for (int i = 0; i < count; i++) {
            now += SECOND;
            provider.machines.forEach(machine -> machine.report(4, Map.of()));
            cluster.tick();
        }
    }

    @Test
    void aServerThatIsStoppedGetsNoCaches() {
        start(0, SupplyTest::serveSoon, SMALL);
        allocate(7, 4, 0);
        cluster.deallocate(7);
        TestProvider.TestMachine machine = provider.machines.getFirst();
        while (!machine.stopped) {
            now += SECOND;
            machine.report(4, Map.of());
            cluster.tick();
        }
        // The server does not know yet that it is stopped, and still reports.
        machine.report(4, Map.of());
        assertEquals(List.of(new RegionShare("host101:1", 4)), allocate(9, 4, 0).shares());
        assertEquals(2, provider.machines.size());
    }

    @Test
    void whatIsTakenBackBeforeItsServerIsKnownGetsNoCaches() {
        isTakenBackBefore(TestProvider.TestMachine::serve);
    }

    @Test
    void whatIsTakenBackBeforeItsProviderSaysWhereItIsGetsNoCaches() {
        isTakenBackBefore(TestProvider.TestMachine::serveTheOtherWayRound);
    }

    private void isTakenBackBefore(Consumer<TestProvider.TestMachine> serving) {
        start(
                1,
                machine -> {
                    if (starts > 1) {
                        serveSoon(machine);
                    }
                },
                SMALL);
        cluster.tick();
        TestProvider.TestMachine first = provider.machines.getFirst();
        first.reclaim(Duration.ofSeconds(30));
        now += 10 * SECOND;
        serving.accept(first);
        ServerReport server = cluster.servers().stream()
                .filter(one -> one.address().equals("host100:1"))
                .findFirst()
                .orElseThrow();
        assertTrue(server.leaving());
        assertEquals(20_000, server.leavesWithinMillis());
        List<RegionShare> shares = allocate(7, 4, 0).shares();
        assertTrue(shares.stream().noneMatch(share -> share.address().equals("host100:1")), shares::toString);
    }

    /** The provider's thread has other machines to look after, and the notice is known. */
    @Test
    void aProviderIsNotRefusedIfTheStateCannotBeWritten() throws InterruptedException {
        List<Thread> serving = new ArrayList<>();
        start(0, machine -> serving.add(Thread.ofVirtual().start(machine::serve)), SMALL);
        allocate(7, 4, 0);
        // Else its first report could be answered later, and the next one would then need no answer.
        serving.getFirst().join();
        store.failing = true;
        provider.machines.getFirst().reclaim(Duration.ofSeconds(30));
        store.failing = false;
        // Returns when the state was read again: until then a report is kept for later.
        cluster.describe(7);
        TestProvider.TestMachine machine = provider.machines.getFirst();
        assertFalse(store.servers.get(machine.id).leaving());
        machine.report(0, Map.of(7L, 4));
        assertTrue(store.servers.get(machine.id).leaving());
    }

    @Test
    void whatIsTakenBackIsLeftAlthoughItsServerDoesNotKnow() {
        start(0, SupplyTest::serveSoon, SMALL);
        allocate(7, 4, 0);
        attend(7);
        provider.machines.getFirst().reclaim(Duration.ofSeconds(30));
        cluster.tick();
        assertEquals(List.of(), alerts, "there is no room");
        assertEquals(2, provider.machines.size(), "one was started for it");
        while (cluster.servers().size() < 2) {
            Thread.onSpinWait();
        }
        cluster.tick();
        assertEquals(1, alerts.size());
        assertEquals(30_000, alerts.getFirst().withinMillis());
        assertEquals(List.of(new RegionShare("host101:1", 4)), alerts.getFirst().targets());
        provider.machines.getFirst().report(0, Map.of(7L, 4));
        assertTrue(cluster.servers().stream()
                .anyMatch(server -> server.address().equals("host100:1") && server.leaving()));
    }

    @Test
    void theLongestNoticeIsNotOverAtOnce() {
        start(1, SupplyTest::serveSoon, SMALL);
        cluster.tick();
        while (cluster.servers().isEmpty()) {
            Thread.onSpinWait();
        }
        provider.machines.getFirst().reclaim(Duration.ofSeconds(Long.MAX_VALUE));
        cluster.tick();
        ServerReport server = cluster.servers().getFirst();
        assertTrue(server.leaving());
        assertEquals(Durations.LONGEST.toMillis(), server.leavesWithinMillis());
    }

    @Test
    void sparesAreStartedAndNobodysButThoseThatLeave() {
        start(1, SupplyTest::serveSoon, SMALL, LARGE);
        cluster.tick();
        assertEquals(List.of("small"), started(), "the cheapest");
        while (cluster.servers().isEmpty()) {
            Thread.onSpinWait();
        }
        cluster.tick();
        allocate(7, 4, 0);
        assertEquals(List.of("small", "small"), started());
        attend(7);
        cluster.tick();
        assertEquals(2, provider.machines.size(), "one is the cache's, the other is spare");
        provider.machines.get(1).reclaim(Duration.ofSeconds(30));
        assertEquals(1, alerts.size(), "at once");
        assertEquals(List.of(new RegionShare("host100:1", 4)), alerts.getFirst().targets());
        now += 6 * SECOND;
        provider.machines.get(0).report(4, Map.of());
        cluster.tick();
        assertEquals(3, provider.machines.size(), "the spare is in use, and there is another");
    }

    @Test
    void aSpareHasTheCoresThatCachesTake() {
        start(1, SupplyTest::serveSoon, lot("bare", false, 0.5, 16, 9), LARGE);
        cluster.tick();
        assertEquals(List.of("bare"), started());
        allocate(7, 16, 0, new AllocationCandidate(5, 4));
        assertEquals(List.of("bare", "large"), started());
        cluster.tick();
        assertEquals(List.of("bare", "large", "large"), started());
    }

    @Test
    void asMuchAsTheLargestServerIsHeldBackOfServersThatRegistered() {
        start(1);
        report(1, 4, false, Map.of());
        report(2, 4, false, Map.of());
        report(3, 3, false, Map.of());
        String refused = refusal(7, 8);
        assertTrue(refused.contains("for one cache of 7 MiB"), refused);
        assertTrue(refused.contains("4 MiB are held back"), refused);
        Allocation cache = allocate(7, 7, 0);
        attend(7);
        report(1, 4, false, Map.of());
        cluster.tick();
        assertThrows(
                ControlException.class,
                () -> cluster.reserve(7, cache.shares().getFirst().address(), 4));
        String held = List.of("own1:1", "own2:1", "own3:1").stream()
                .filter(address -> cache.shares().stream()
                        .noneMatch(share -> share.address().equals(address)))
                .findFirst()
                .orElseThrow();
        long leaves = held.equals("own1:1") ? 2 : 1;
        report(leaves, 4, true, Map.of(7L, 4));
        assertEquals(1, alerts.size());
        assertEquals(List.of(new RegionShare(held, 4)), alerts.getFirst().targets());
    }

    @Test
    void whereNoSpareCanBeHadItWaitsForTheMarket() {
        start(1, SupplyTest::serveSoon, lot("small", false, 1, 4, 0));
        cluster.tick();
        assertEquals(List.of(), provider.machines);
        assertEquals(Set.of("small"), provider.awaited);
        provider.lots = List.of(SMALL);
        cluster.tick();
        assertEquals(List.of(), provider.machines, "nobody has said that there is one");
        provider.tellAvailable("small");
        cluster.tick();
        assertEquals(1, provider.machines.size());
    }

    @Test
    void aSpareThatDoesNotStartIsNotTriedAgainAtOnce() {
        start(1, machine -> machine.fail("no socket"), SMALL);
        for (int second = 0; second < 12; second++) {
            cluster.tick();
            now += SECOND;
        }
        assertEquals(3, starts);
    }

    /** The machine hangs: it may never come. */
    @Test
    void aSpareThatIsLateIsReplaced() {
        start(1, _ -> {}, SMALL);
        for (int second = 0; second < 200; second++) {
            if (second == 20) {
                assertEquals(1, starts);
            }
            cluster.tick();
            now += SECOND;
        }
        assertEquals(3, starts, "then more would be late, too");
    }

    @Test
    void regionsOnAServerThatLeavesWaitForSparesThatAreComing() {
        start(1, _ -> {}, SMALL);
        cluster.tick();
        report(1, 8, false, Map.of());
        allocate(7, 4, 0);
        assertEquals(1, starts);
        report(1, 8, true, Map.of(7L, 4));
        cluster.tick();
        assertEquals(2, starts, "the room of a server of eight regions is to be spare");
        provider.machines.getFirst().serve();
        attend(7);
        cluster.tick();
        assertEquals(List.of(new RegionShare("host100:1", 4)), alerts.getFirst().targets());
    }

    /**
     * Starts a manager that answers BUSY at once if there is no room, and has machines started that do not serve.
     *
     * @return a request for all of such a machine
     */
    private CacheRequest startImpatient() {
        ManagerOptions options =
                new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, new Supply(0, 60 * SECOND, 20 * SECOND));
        cluster = new ClusterManager(store, options, () -> now, () -> now / 1_000_000, 1);
        cluster.menu(MENU);
        provider = new TestProvider(cluster::report, _ -> {});
        provider.lots = List.of(SMALL);
        cluster.use(provider, Map.of(), "manager:1");
        return new CacheRequest(7, CLIENT, "cache", 4 * MIB, 0, "d/c/r", List.of(AllocationCandidate.ANY));
    }

    private void busy(CacheRequest request) {
        ControlException refused = assertThrows(ControlException.class, () -> cluster.allocate(request));
        assertEquals(Code.BUSY, refused.code(), refused.getMessage());
    }

    /** Its client cannot ask meanwhile. The next time that it does, no other server must be started. */
    @Test
    void aClientKeepsItsServersWhileTheManagerStandsStill() {
        CacheRequest request = startImpatient();
        busy(request);
        cluster.tick();
        now += 10 * SECOND;
        cluster.tick();
        now += SECOND;
        cluster.tick();
        busy(request);
        assertEquals(1, provider.machines.size());
    }

    /** What was started for it would otherwise go to another cache, or stop. */
    @Test
    void aClientThatWaitsForCachesToEndKeepsItsServers() {
        CacheRequest request = startImpatient();
        report(1, 4, false, Map.of());
        cluster.allocate(new CacheRequest(5, CLIENT, "old", 4 * MIB, 40_000, "d/c/r", request.candidates()));
        CacheManager.Attendance line = cluster.attend(CLIENT, new Unheard());
        for (int i = 1; i < 50; i++) {
            now += SECOND;
            line.renew(Set.of(5L));
            report(1, 4, false, Map.of(5L, 4));
            if (i > 37) {
                busy(request);
                assertEquals(i >= 40, store.caches.get(5L).ended(), "whether it waits for the room of another cache");
            }
            cluster.tick();
        }
        // That room never comes.
        for (int i = 0; i < 4; i++) {
            now += SECOND;
            cluster.tick();
        }
        busy(request);
        assertEquals(1, provider.machines.size());
    }

    /** What was started for it would otherwise wait for it for more than a minute. */
    @Test
    void aClientThatAsksNoMoreLosesItsClaimOnServers() {
        busy(startImpatient());
        TestProvider.TestMachine machine = provider.machines.getFirst();
        machine.serve();
        // It stops 20 s after no cache waits for it any more.
        for (int i = 0; i < 30 && !machine.stopped; i++) {
            now += SECOND;
            machine.report(4, Map.of());
            cluster.tick();
        }
        assertTrue(machine.stopped);
    }
}
