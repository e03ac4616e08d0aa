package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ReportReply;
import io.farheap.manager.ServerReport;
import io.farheap.manager.state.LifeRecord;
import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A cluster manager with a store in memory and a clock that only the tests advance. */
class ClusterManagerTest {

    /** The client would move to room that others may get. */
    @Test
    void noClientIsNotifiedOfAMoveThatIsNotOnDisk() {
        TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
        cluster.allocateOn(1, 7, 2);
        cluster.reports(2, 2);
        CacheManager.Attendance line = cluster.manager.attend(99, new RecordedNotices(cluster.alerts, cluster.ends));
        line.renew(Set.of(7L));
        // So the server that leaves is only announced: the cache's record does not change.
        cluster.manager.reserve(7, "host2:1", 1);
        cluster.store.failing = true;
        cluster.store.unreadable = true;
        refusal(Code.INTERNAL, () -> cluster.leaves(1, 2));
        line.renew(Set.of(7L));
        refusal(Code.UNAVAILABLE, cluster.manager::tick);
        cluster.reports(2, 2);
        assertEquals(List.of(), cluster.alerts);
        cluster.store.failing = false;
        cluster.store.unreadable = false;
        cluster.manager.tick();
        cluster.leaves(1, 2);
        assertEquals(1, cluster.alerts.size());
    }

    /** It could not renew it meanwhile. */
    @Test
    void aClientsMoveKeepsItsRoomThoughTheManagerStoodStill() {
        TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
        cluster.allocateOn(1, 7, 2);
        cluster.reports(2, 2);
        cluster.attends(7L);
        cluster.manager.reserve(7, "host2:1", 1);
        cluster.manager.tick();
        cluster.pass(12_000);
        cluster.reports(1, 2);
        cluster.leaves(1, 2);
        cluster.reports(2, 2);
        cluster.manager.tick();
        assertEquals(1, cluster.reserved(7));
        for (int i = 0; i < 11; i++) {
            cluster.pass(1_000);
            cluster.leaves(1, 2);
            cluster.reports(2, 2);
            cluster.manager.tick();
        }
        assertEquals(2, cluster.reserved(7), "for the move off the server that leaves");
    }

    /** Its client was not notified of the end, and what it sent meanwhile was not received. */
    @Test
    void noCacheIsEndedUnheardAfterTheManagerStoodStill() {
        TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
        cluster.reports(1, 4);
        cluster.allocate(7, 4, 35_000);
        cluster.attends(7L);
        cluster.manager.tick();
        cluster.pass(40_000);
        cluster.reports(1, 4);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 1, 0));
        assertFalse(cluster.record(7).ended());
    }

    /** It continues to be heard, though the manager accepts no change. */
    @Test
    @Timeout(60)
    void aServerThatReportsWhileAWriteIsLateIsNotSilent() throws Exception {
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        cluster = new ClusterManager(
                new StateStore() {
                    @Override
                    public long epoch() {
                        return store.epoch();
                    }

                    @Override
                    public ManagerState load() {
                        return store.load();
                    }

                    @Override
                    public void write(List<StateChange> changes) {
                        if (store.caches.containsKey(7L)) {
                            writes.countDown();
                            awaitOpen(release);
                        }
                        store.write(changes);
                    }
                },
                ManagerOptions.DEFAULT,
                () -> now,
                () -> time);
        reports(1, 4);
        reports(2, 4);
        allocate(7, 2);
        Thread extending = Thread.ofPlatform().start(() -> cluster.extend(7, 60_000));
        writes.await();
        for (int total = 5; total <= 6; total++) {
            now += 2 * SECOND;
            assertEquals(ReportReply.NONE, cluster.report(report(1, total, total, false, Map.of())));
        }
        release.countDown();
        extending.join();
        List<ServerReport> heard = cluster.servers();
        assertEquals(
                List.of("host1:1"), heard.stream().map(ServerReport::address).toList());
        assertEquals(6, heard.getFirst().totalRegions());
    }

    /** What it says has changed, so its report must be processed, and cannot be before the state was read. */
    @Test
    void aServerThatReportsWhileTheStateCannotBeReadIsNotSilent() {
        TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);
        List<String> lost = new ArrayList<>();
        CacheManager.Attendance line = cluster.manager.attend(99, new Unheard() {
            @Override
            public void lost(long cacheId, String server) {
                lost.add(server);
            }
        });
        cluster.allocateOn(1, 7, 2);
        cluster.allocateOn(2, 8, 2);
        line.renew(Set.of(7L, 8L));
        cluster.pass(4_000);
        cluster.reports(1, 2);
        cluster.reports(2, 2);
        cluster.manager.tick();
        cluster.store.failing = true;
        cluster.store.unreadable = true;
        refusal(Code.INTERNAL, () -> cluster.manager.extend(7, 60_000));
        for (int i = 0; i < 5; i++) {
            cluster.pass(1_000);
            assertEquals(
                    ReportReply.NONE, cluster.manager.report(TestCluster.server(1, "t", false, 3 + i, Map.of(7L, 2))));
        }
        refusal(Code.UNAVAILABLE, () -> cluster.manager.describe(7));
        cluster.store.failing = false;
        cluster.store.unreadable = false;
        cluster.manager.tick();
        assertEquals(
                List.of("host1:1"),
                cluster.manager.servers().stream().map(ServerReport::address).toList());
        assertEquals(List.of(), lost);
        for (int i = 0; i < 4; i++) {
            cluster.pass(1_000);
            cluster.reports(1, 7);
            cluster.manager.tick();
        }
        assertEquals(List.of("host2:1"), lost);
    }

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000L;
    /** In ms: servers that end at such intervals do not end together. */
    private static final long OVER_A_MINUTE = 61_000;

    private static final long CLIENT = 99;

    private final MemoryStore store = new MemoryStore();
    private long now = 1000 * SECOND;
    private long time = 5_000_000;
    private ClusterManager cluster = start();
    private final List<Reclaim> alerts = new ArrayList<>();
    private final List<String> expiring = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();
    private final List<Long> ends = new ArrayList<>();

    private ClusterManager start() {
        return new ClusterManager(store, ManagerOptions.DEFAULT, () -> now, () -> time);
    }

    private static ServerReport report(long id, int total, int free, boolean leaving, Map<Long, Integer> held) {
        return report(id, "host" + id + ":1", total, free, leaving, held);
    }

    private static ServerReport report(
            long id, String address, int total, int free, boolean leaving, Map<Long, Integer> held) {
        return new ServerReport(
                id, address, "t", false, "d/c/r", MIB, total, free, 30_000, leaving, leaving ? 30_000 : 0, held);
    }

    private void reports(long id, int total) {
        cluster.report(report(id, total, total, false, Map.of()));
    }

    private Allocation allocate(long id, int regions) {
        return cluster.allocate(
                new CacheRequest(id, CLIENT, "cache", regions * MIB, 0, "", List.of(AllocationCandidate.ANY)));
    }

    private CacheManager.Attendance attend() {
        return cluster.attend(CLIENT, new CacheManager.Listener() {
            @Override
            public void reclaim(Reclaim alert) {
                alerts.add(alert);
            }

            @Override
            public void expiring(long cacheId, long leftMillis) {
                expiring.add(cacheId + " in " + leftMillis);
            }

            @Override
            public void lost(long cacheId, String server) {
                lost.add(cacheId + " on " + server);
            }

            @Override
            public void ended(long cacheId, String why) {
                ends.add(cacheId);
            }

            @Override
            public void ended(ControlException why) {
                throw new AssertionError(why);
            }
        });
    }

    @Test
    void anAllocationThatIsRepeatedIsTheSame() {
        reports(1, 4);
        Allocation first = allocate(7, 3);
        assertEquals(List.of(new RegionShare("host1:1", 3)), first.shares());
        assertEquals(first, allocate(7, 3));
        refusal(Code.INVALID_ARGUMENT, () -> allocate(7, 2));
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 2));
        allocate(8, 1);
        cluster.deallocate(7);
        cluster.deallocate(7);
        allocate(9, 3);
        refusal(Code.NOT_FOUND, () -> cluster.describe(7));
    }

    @Test
    void whatIsPromisedAndNotTakenIsNotGivenTwice() {
        cluster.report(report(1, 10, 10, false, Map.of()));
        allocate(7, 4);
        // Four of the free regions are promised to the cache, which has no lease yet; another client has taken three.
        cluster.report(report(1, 10, 7, false, Map.of()));
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 4));
        allocate(8, 3);
        cluster.report(report(1, 10, 3, false, Map.of(7L, 4, 8L, 0)));
        refusal(Code.OUT_OF_MEMORY, () -> allocate(9, 1));
    }

    /** Thousands of servers repeat their last report each second: these reports must not wait for the lock. */
    @Test
    @Timeout(60)
    void aReportWithNothingNewWaitsForNobodyAndCounts() throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Thread ticking = Thread.ofPlatform().unstarted(() -> cluster.tick());
        cluster = new ClusterManager(
                store,
                ManagerOptions.DEFAULT,
                () -> {
                    if (Thread.currentThread() == ticking) {
                        reached.countDown();
                        awaitOpen(release);
                    }
                    return now;
                },
                () -> time);
        reports(1, 4);
        ticking.start();
        reached.await();
        assertEquals(ReportReply.NONE, cluster.report(report(1, 4, 1, false, Map.of(7L, 3))));
        release.countDown();
        ticking.join();
        assertEquals(1, cluster.servers().getFirst().freeRegions());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 2));
        cluster.drain("host1:1");
        assertEquals(new ReportReply(true, Set.of()), cluster.report(report(1, 4, 1, false, Map.of(7L, 3))));
    }

    private static void awaitOpen(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aSilentServerGetsNoCaches() {
        reports(1, 4);
        now += 4 * SECOND;
        refusal(Code.OUT_OF_MEMORY, () -> allocate(7, 1));
        assertEquals(List.of(), cluster.servers());
        reports(1, 4);
        allocate(7, 1);
    }

    @Test
    void aLossIsToldOnceOverEachLine() {
        reports(1, 4);
        reports(2, 2);
        allocate(7, 3);
        CacheManager.Attendance line = attend();
        line.renew(Set.of(7L));
        ticks();
        ticks();
        cluster.tick();
        assertEquals(List.of(), lost, "no server at all is heard: it may be the manager that is deaf");
        reports(2, 2);
        cluster.tick();
        cluster.tick();
        assertEquals(List.of("7 on host1:1"), lost);
        line.close();
        attend().renew(Set.of(7L));
        cluster.tick();
        assertEquals(2, lost.size(), "another line");
        cluster.report(report(1, 4, 1, false, Map.of(7L, 3)));
        cluster.tick();
        ticks();
        ticks();
        reports(2, 2);
        cluster.tick();
        assertEquals(3, lost.size(), "it is lost again");
    }

    @Test
    void aServerThatIsStartedAnewIsALoss() {
        reports(1, 4);
        allocate(7, 3);
        attend().renew(Set.of(7L));
        ticks();
        ticks();
        cluster.report(new ServerReport(5, "host1:1", "t", false, "d/c/r", MIB, 4, 4, 30_000, false, 0, Map.of()));
        cluster.tick();
        assertEquals(List.of("7 on host1:1"), lost);
    }

    @Test
    void aNewLeaderListensBeforeItTakesAServerForLost() {
        reports(1, 4);
        reports(2, 2);
        allocate(7, 3);
        cluster = start();
        attend().renew(Set.of(7L));
        reports(2, 2);
        now += 2 * SECOND;
        cluster.tick();
        assertEquals(List.of(), lost);
        now += 2 * SECOND;
        reports(2, 2);
        cluster.tick();
        assertEquals(List.of("7 on host1:1"), lost);
    }

    @Test
    void aRefusalSaysWhatCouldBeHad() {
        assertTrue(
                refusal(Code.OUT_OF_MEMORY, () -> allocate(7, 1)).getMessage().contains("no server"));
        reports(1, 4);
        assertTrue(refusal(Code.OUT_OF_MEMORY, () -> allocate(7, 5))
                .getMessage()
                .contains("there is no room for 5 MiB, but for one cache of 4 MiB"));
    }

    @Test
    void whatCannotBeWrittenDoesNotHappen() {
        reports(1, 4);
        store.failing = true;
        assertTrue(refusal(Code.INTERNAL, () -> allocate(7, 4)).getMessage().contains("the disk is full"));
        store.failing = false;
        allocate(8, 4);
        assertEquals(Set.of(8L), store.caches.keySet());
        store.failing = true;
        refusal(Code.INTERNAL, () -> cluster.deallocate(8));
        assertEquals("cache", cluster.describe(8).name());
    }

    @Test
    void aServerThatCouldNotBeWrittenIsWrittenWithItsNextReport() {
        store.failing = true;
        refusal(Code.INTERNAL, () -> reports(1, 4));
        store.failing = false;
        reports(1, 4);
        allocate(7, 4);
        assertEquals(Set.of(1L), store.servers.keySet());
        cluster = start();
        attend().renew(Set.of(7L));
        reports(2, 4);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        assertEquals("host1:1", alerts.getLast().server());
    }

    @Test
    void aDrainedServerGetsNoCachesAndHearsThatItLeavesFromLaterManagersToo() {
        reports(1, 4);
        reports(2, 4);
        allocate(7, 4);
        CacheManager.Attendance line = attend();
        line.renew(Set.of(7L));
        String server = cluster.describe(7).allocation().shares().getFirst().address();
        long id = server.startsWith("host1") ? 1 : 2;
        refusal(Code.NOT_FOUND, () -> cluster.drain("host3:1"));
        cluster.drain(server);
        cluster.drain(server);
        assertEquals(1, alerts.size());
        assertEquals(server, alerts.getFirst().server());
        assertEquals(30_000, alerts.getFirst().withinMillis());
        assertEquals(Reclaim.Reason.LEAVES, alerts.getFirst().reason());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1));
        // The server has not received the order to leave yet, and reports that it stays.
        assertTrue(cluster.report(report(id, 4, 0, false, Map.of(7L, 4))).leave());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1));
        cluster = start();
        assertTrue(cluster.report(report(id, 4, 0, false, Map.of(7L, 4))).leave());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1));
        assertFalse(cluster.report(report(id, 4, 0, true, Map.of(7L, 4))).leave());
        assertFalse(cluster.report(report(3 - id, 4, 4, false, Map.of())).leave());
        assertEquals(
                List.of(3 - id),
                cluster.servers().stream()
                        .filter(one -> !one.leaving())
                        .map(ServerReport::serverId)
                        .toList());
    }

    /** The drain comes while the server's first report is being written. */
    @Test
    @Timeout(60)
    void aServerThatIsDrainedBeforeItsFirstAnswerHearsIt() throws Exception {
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        cluster = new ClusterManager(
                new StateStore() {
                    @Override
                    public long epoch() {
                        return store.epoch();
                    }

                    @Override
                    public ManagerState load() {
                        return store.load();
                    }

                    @Override
                    public void write(List<StateChange> changes) {
                        writes.countDown();
                        awaitOpen(release);
                        store.write(changes);
                    }
                },
                ManagerOptions.DEFAULT,
                () -> now,
                () -> time);
        Thread reporting = Thread.ofPlatform().start(() -> reports(1, 4));
        writes.await();
        Thread draining = Thread.ofPlatform().start(() -> cluster.drain("host1:1"));
        // No thread holds the lock, so the drain waits for the disk.
        while (draining.getState() != Thread.State.WAITING) {
            Thread.sleep(1);
        }
        release.countDown();
        reporting.join();
        draining.join();
        assertTrue(cluster.report(report(1, 4, 4, false, Map.of())).leave());
    }

    @Test
    void aDrainThatCannotBeWrittenDoesNotHappen() {
        reports(1, 4);
        store.failing = true;
        refusal(Code.INTERNAL, () -> cluster.drain("host1:1"));
        store.failing = false;
        assertFalse(cluster.report(report(1, 4, 4, false, Map.of())).leave());
        allocate(7, 4);
    }

    @Test
    void aClientHearsOnceWhereRoomIsReservedAndTellsWhereItHasMoved() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 2);
        reports(3, 3);
        CacheManager.Attendance line = attend();
        line.renew(Set.of(7L));
        assertEquals(List.of(), alerts);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        cluster.tick();
        assertEquals(1, alerts.size());
        Reclaim alert = alerts.getFirst();
        assertEquals(
                new Reclaim(
                        7,
                        2,
                        Reclaim.Reason.LEAVES,
                        "host1:1",
                        30_000,
                        List.of(new RegionShare("host2:1", 1), new RegionShare("host3:1", 3))),
                alert);
        // No other cache gets the reserved regions.
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 2));
        allocate(8, 1);
        refusal(Code.BUSY, () -> cluster.moved(7, 1, 4 * MIB, alert.targets()));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.moved(7, 2, 4 * MIB, List.of(new RegionShare("host2:1", 1))));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.moved(7, 2, 4 * MIB, List.of(new RegionShare("host9:1", 4))));
        Allocation after = cluster.moved(7, 2, 4 * MIB, alert.targets());
        assertEquals(alert.targets(), after.shares());
        assertEquals(after, cluster.moved(7, 2, 4 * MIB, alert.targets()), "a repeated call has the same answer");
        cluster.tick();
        assertEquals(1, alerts.size());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(9, 1));
    }

    @Test
    void aClientThatComesBackHearsItAgain() {
        reports(1, 4);
        allocate(7, 2);
        reports(2, 2);
        cluster.report(report(1, 4, 2, true, Map.of(7L, 2)));
        attend().renew(Set.of(7L));
        now += 2 * SECOND;
        attend().renew(Set.of(7L));
        assertEquals(2, alerts.size());
        assertEquals(alerts.getFirst().targets(), alerts.getLast().targets());
        assertEquals(28_000, alerts.getLast().withinMillis());
    }

    @Test
    void roomThatComesLaterAndTargetsThatLeaveThemselvesAreDealtWith() {
        reports(1, 4);
        allocate(7, 4);
        attend().renew(Set.of(7L));
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        cluster.tick();
        assertEquals(List.of(), alerts, "there is no room");
        reports(2, 4);
        cluster.tick();
        assertEquals("host2:1", alerts.getLast().targets().getFirst().address());
        reports(3, 4);
        cluster.report(report(2, 4, 4, true, Map.of()));
        assertEquals("host3:1", alerts.getLast().targets().getFirst().address());
        assertEquals(2, alerts.size());
    }

    @Test
    void aManagerThatStartsAnewHasAllCachesAndMoves() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        attend().renew(Set.of(7L));
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        Reclaim before = alerts.getLast();
        cluster = start();
        assertEquals(4 * MIB, cluster.describe(7).allocation().capacity());
        attend().renew(Set.of(7L));
        cluster.report(report(2, 4, 4, false, Map.of()));
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        Reclaim again = alerts.getLast();
        assertEquals(before.targets(), again.targets(), "its own reservation is not in its way");
        refusal(Code.BUSY, () -> cluster.moved(7, before.generation(), 4 * MIB, before.targets()));
        cluster.moved(7, again.generation(), 4 * MIB, again.targets());
        assertEquals(again.targets(), cluster.describe(7).allocation().shares());
    }

    private void ticks() {
        now += 2 * SECOND;
        cluster.tick();
    }

    private void passes(long millis) {
        now += millis * 1_000_000;
        time += millis;
    }

    /** Lets seconds pass, one after the other, with a tick in each. */
    private void pass(int seconds, Runnable eachSecond) {
        for (int i = 0; i < seconds; i++) {
            now += SECOND;
            eachSecond.run();
            cluster.tick();
        }
    }

    @Test
    void aCacheIsGivenUpWhenItsClientIsGoneAndNoServerHoldsAnythingForIt() {
        reports(1, 4);
        allocate(7, 4);
        Runnable holding = () -> cluster.report(report(1, 4, 0, false, Map.of(7L, 4)));
        CacheManager.Attendance line = attend();
        line.renew(Set.of(7L));
        pass(20, holding);
        line.renew(Set.of(7L));
        pass(29, () -> reports(1, 4));
        cluster.describe(7);
        pass(60, holding);
        cluster.describe(7);
        reports(1, 4);
        cluster.tick();
        refusal(Code.NOT_FOUND, () -> cluster.describe(7));
        allocate(8, 4);
    }

    @Test
    void aManagerThatHearsNobodyOrStoodStillGivesNothingUp() {
        reports(1, 4);
        allocate(7, 4);
        pass(100, () -> {});
        cluster.describe(7);
        now += 100 * SECOND;
        reports(1, 4);
        cluster.tick();
        cluster.describe(7);
        pass(29, () -> reports(1, 4));
        cluster.describe(7);
        pass(3, () -> reports(1, 4));
        refusal(Code.NOT_FOUND, () -> cluster.describe(7));
    }

    /** No server reaches the manager for a while, and then others do before the cache's server. */
    @Test
    void aCacheIsNotGivenUpSinceItsServerIsSilent() {
        reports(1, 4);
        allocate(7, 4);
        attend().renew(Set.of(7L));
        reports(2, 4);
        pass(35, () -> {});
        reports(2, 4);
        cluster.tick();
        cluster.describe(7);
        // The server is cut off for longer, and so is the cache's client.
        pass(300, () -> reports(2, 4));
        cluster.describe(7);
        attend().renew(Set.of(7L));
        cluster.report(report(1, 4, 0, false, Map.of(7L, 4)));
        cluster.drain("host1:1");
        assertEquals("host1:1", alerts.getFirst().server());
    }

    @Test
    void aCacheOnAServerThatIsGoneIsGivenUpOnceOthersWereHeardForAnHour() {
        reports(1, 4);
        allocate(7, 4);
        pass(4_000, () -> {});
        pass(3_590, () -> reports(2, 4));
        cluster.describe(7);
        pass(12, () -> reports(2, 4));
        refusal(Code.NOT_FOUND, () -> cluster.describe(7));
    }

    @Test
    void aCacheOnAServerThatWasStartedAnewIsGivenUp() {
        reports(1, 4);
        allocate(7, 4);
        restarts(9, "host1:1", 4, false, Map.of());
        pass(29, () -> restarts(9, "host1:1", 4, false, Map.of()));
        cluster.describe(7);
        pass(3, () -> restarts(9, "host1:1", 4, false, Map.of()));
        refusal(Code.NOT_FOUND, () -> cluster.describe(7));
        // A manager that never received a report of the earlier server does the same.
        allocate(8, 4);
        cluster = start();
        pass(32, () -> restarts(10, "host1:1", 4, false, Map.of()));
        refusal(Code.NOT_FOUND, () -> cluster.describe(8));
    }

    @Test
    void aSilenceOfAllServersIsNoEndOfAny() {
        cluster.report(typed(101, "spot", true));
        now += 60 * SECOND;
        time += 60_000;
        cluster.report(typed(101, "spot", true));
        pass(100, () -> time += 1_000);
        assertEquals(Set.of(101L), store.servers.keySet());
        pass(100, () -> {
            time += 1_000;
            reports(1, 4);
        });
        assertEquals(Set.of(1L, 101L), store.servers.keySet());
        assertEquals(Map.of(), store.lives);
        pass(3_600, () -> {
            time += 1_000;
            reports(1, 4);
        });
        assertEquals(Set.of(1L), store.servers.keySet());
        assertEquals(Map.of(1 / 60.0, 1), lives(), "it has lived until it was heard last");
    }

    @Test
    void whereACacheHoldsSomethingItIs() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        attend().renew(Set.of(7L));
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        Reclaim first = alerts.getLast();
        // The target sends no reports, so the manager finds another; meanwhile the client has moved to the first one.
        reports(3, 4);
        pass(5, () -> {
            reports(3, 4);
            cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        });
        Reclaim second = alerts.getLast();
        assertEquals("host3:1", second.targets().getFirst().address());
        refusal(Code.INVALID_ARGUMENT, () -> cluster.moved(7, second.generation(), 4 * MIB, first.targets()));
        cluster.report(report(2, 4, 0, false, Map.of(7L, 4)));
        assertEquals(
                first.targets(),
                cluster.moved(7, second.generation(), 4 * MIB, first.targets()).shares());
    }

    @Test
    void aCacheGrowsIntoRoomThatIsReservedForIt() {
        reports(1, 4);
        Allocation small = allocate(7, 3);
        reports(2, 4);
        Allocation growing = cluster.reallocate(7, 5 * MIB - 1);
        assertEquals(small.shares(), growing.shares());
        assertEquals(List.of(new RegionShare("host1:1", 1), new RegionShare("host2:1", 1)), growing.reserved());
        assertEquals(growing, cluster.reallocate(7, 5 * MIB - 1), "a repeated call has the same answer");
        refusal(Code.BUSY, () -> cluster.reallocate(7, 6 * MIB));
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 4));
        List<RegionShare> shares = List.of(new RegionShare("host1:1", 4), new RegionShare("host2:1", 1));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.moved(7, growing.generation(), 6 * MIB, shares));
        Allocation grown = cluster.moved(7, growing.generation(), 5 * MIB - 1, shares);
        assertEquals(grown, cluster.moved(7, growing.generation(), 5 * MIB - 1, shares));
        assertEquals(List.of(), grown.reserved());
        assertEquals(5 * MIB - 1, cluster.describe(7).allocation().capacity());
        // Its regions have room for one byte more.
        assertEquals(grown, cluster.reallocate(7, 5 * MIB));
        assertEquals(
                5 * MIB, cluster.moved(7, grown.generation(), 5 * MIB, shares).capacity());
        assertTrue(refusal(Code.OUT_OF_MEMORY, () -> cluster.reallocate(7, 9 * MIB))
                .getMessage()
                .contains("but 8 MiB"));
    }

    @Test
    void anObjectiveHasNoMoreConfigurationsThanThatOfANewCache() {
        reports(1, 4);
        allocate(7, 1);
        refusal(
                Code.INVALID_ARGUMENT,
                () -> cluster.reallocate(7, MIB, Collections.nCopies(3_001, AllocationCandidate.ANY)));
        cluster.reallocate(7, MIB, Collections.nCopies(3_000, AllocationCandidate.ANY));
    }

    @Test
    void aCacheThatBecomesSmallerSaysSoAfterwards() {
        reports(1, 4);
        Allocation large = allocate(7, 4);
        List<RegionShare> two = List.of(new RegionShare("host1:1", 2));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.moved(7, large.generation(), 3 * MIB, two));
        assertEquals(two, cluster.moved(7, large.generation(), MIB + 1, two).shares());
        allocate(8, 2);
    }

    @Test
    void anApplicationMayChooseAServerThatHasRoom() {
        reports(1, 4);
        allocate(7, 3);
        reports(2, 2);
        refusal(Code.NOT_FOUND, () -> cluster.reserve(7, "host9:1", 1));
        refusal(Code.NOT_FOUND, () -> cluster.reserve(8, "host2:1", 1));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.reserve(7, "host2:1", 0));
        refusal(Code.OUT_OF_MEMORY, () -> cluster.reserve(7, "host2:1", 3));
        Allocation reserved = cluster.reserve(7, "host2:1", 2);
        assertEquals(List.of(new RegionShare("host2:1", 2)), reserved.reserved());
        assertEquals(reserved.reserved(), cluster.reserve(7, "host2:1", 2).reserved());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 2));
        List<RegionShare> shares = List.of(new RegionShare("host1:1", 1), new RegionShare("host2:1", 2));
        long generation = cluster.describe(7).allocation().generation();
        assertEquals(shares, cluster.moved(7, generation, 3 * MIB, shares).shares());
        allocate(8, 3);
        // An unused reservation is given up.
        refusal(Code.OUT_OF_MEMORY, () -> cluster.reserve(8, "host2:1", 1));
        cluster.deallocate(8);
        cluster.reserve(7, "host1:1", 2);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(9, 2));
        pass(12, () -> {
            reports(1, 4);
            reports(2, 2);
        });
        allocate(9, 3);
    }

    @Test
    void roomToGrowIntoThatNobodyTakesIsGivenUp() {
        reports(1, 4);
        reports(2, 2);
        allocate(7, 4);
        Allocation growing = cluster.reallocate(7, 6 * MIB);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1));
        Runnable reports = () -> {
            reports(1, 4);
            reports(2, 2);
        };
        pass(9, reports);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1));
        // A restarted manager gives it up, too, and starts to count again.
        cluster = start();
        pass(9, reports);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 1));
        pass(3, reports);
        allocate(8, 2);
        refusal(
                Code.BUSY,
                () -> cluster.moved(
                        7,
                        growing.generation(),
                        6 * MIB,
                        List.of(new RegionShare("host1:1", 4), new RegionShare("host2:1", 2))));
    }

    @Test
    void aServerThatLeavesWaitsForGrowthThatIsUnderWay() {
        reports(1, 4);
        reports(2, 4);
        Allocation small = allocate(7, 2);
        Allocation growing = cluster.reallocate(7, 3 * MIB);
        attend().renew(Set.of(7L));
        String server = small.shares().getFirst().address();
        long id = server.equals("host1:1") ? 1 : 2;
        cluster.report(report(id, 4, 2, true, Map.of(7L, 2)));
        // Its client learns at once that it has to give way.
        assertEquals(1, alerts.size());
        assertEquals(List.of(), alerts.getFirst().targets());
        RegionShare more = growing.reserved().getFirst();
        List<RegionShare> shares = more.address().equals(server)
                ? List.of(new RegionShare(server, 3))
                : List.of(new RegionShare(server, 2), more);
        cluster.moved(7, growing.generation(), 3 * MIB, shares);
        cluster.report(report(id, 4, 1, true, Map.of(7L, 3)));
        assertEquals(2, alerts.size());
        refusal(Code.BUSY, () -> cluster.reallocate(7, 4 * MIB));
    }

    @Test
    void aMenuDecidesAndIsRemembered() {
        cluster.report(typed(1, "dear", false));
        cluster.report(typed(2, "cheap", false));
        cluster.report(typed(3, "cheap", true));
        cluster.menu("""
                {"types": [{"name": "dear", "cores": 4, "memory": "4m", "price": 2},
                           {"name": "cheap", "cores": 4, "memory": "4m", "price": 1, "spot_price": 0.5, "life": "600m"}]}
                """);
        assertEquals(List.of(new RegionShare("host2:1", 1)), allocate(7, 1).shares());
        // For an hour a spot server suffices.
        CacheRequest hour = new CacheRequest(8, CLIENT, "hour", MIB, 3_600_000, "", List.of(AllocationCandidate.ANY));
        assertEquals(
                List.of(new RegionShare("host3:1", 1)), cluster.allocate(hour).shares());
        cluster = start();
        cluster.report(typed(1, "dear", false));
        cluster.report(typed(2, "cheap", false));
        assertEquals(List.of(new RegionShare("host2:1", 3)), allocate(9, 3).shares());
        assertThrows(IllegalArgumentException.class, () -> cluster.menu("{}"));
        store.failing = true;
        refusal(Code.INTERNAL, () -> cluster.menu("{\"types\": []}"));
        store.failing = false;
        assertTrue(store.menu.contains("dear"));
    }

    @Test
    void aConfigurationWithServerThreadsTakesCoresOnce() {
        cluster.menu("{\"types\": [{\"name\": \"two\", \"cores\": 2, \"memory\": \"4m\", \"price\": 2}]}");
        cluster.report(typed(1, "two", false));
        List<AllocationCandidate> twoThreads = List.of(new AllocationCandidate(5, 2));
        Allocation first = cluster.allocate(new CacheRequest(7, CLIENT, "two", 2 * MIB, 0, "", twoThreads));
        assertEquals(new AllocationCandidate(5, 2), first.candidate());
        String refused = refusal(
                        Code.OUT_OF_MEMORY,
                        () -> cluster.allocate(new CacheRequest(8, CLIENT, "more", MIB, 0, "", twoThreads)))
                .getMessage();
        assertTrue(refused.contains("without an objective"), refused);
        cluster.deallocate(7);
        cluster.allocate(new CacheRequest(8, CLIENT, "more", MIB, 0, "", twoThreads));
    }

    @Test
    void onASpotServerIsNoMoreThanCanLeaveInTime() {
        // The notice is 1 s, of which 0.9 s are for moves, and moving a GB takes 1.09 s: only a part of the 2 GiB can
        // leave in time.
        ServerReport report =
                new ServerReport(1, "host1:1", "t", true, "d/c/r", 64 * MIB, 32, 32, 1_000, false, 0, Map.of());
        cluster.report(report);
        CacheRequest tooMuch =
                new CacheRequest(7, CLIENT, "c", 13 * 64 * MIB, 60_000, "", List.of(AllocationCandidate.ANY));
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(tooMuch));
        cluster.allocate(new CacheRequest(7, CLIENT, "c", 12 * 64 * MIB, 60_000, "", List.of(AllocationCandidate.ANY)));
    }

    private static ServerReport typed(long id, String type, boolean spot) {
        return new ServerReport(id, "host" + id + ":1", type, spot, "d/c/r", MIB, 4, 4, 30_000, false, 0, Map.of());
    }

    @Test
    void aClientHearsOnceThatItsTimeIsNearlyOver() {
        reports(1, 4);
        cluster.allocate(new CacheRequest(7, CLIENT, "c", MIB, 60_000, "", List.of(AllocationCandidate.ANY)));
        CacheManager.Attendance line = attend();
        line.renew(Set.of(7L));
        passes(29_000);
        cluster.tick();
        assertEquals(List.of(), expiring);
        passes(2_000);
        cluster.tick();
        cluster.tick();
        assertEquals(List.of("7 in 29000"), expiring);
        assertEquals(60_000, cluster.extend(7, 60_000).leftMillis());
        passes(40_000);
        cluster.tick();
        assertEquals(List.of("7 in 29000", "7 in 20000"), expiring);
        // A client that comes late is notified, too, if the time has passed already.
        passes(40_000);
        attend().renew(Set.of(7L));
        cluster.tick();
        assertEquals("7 in 0", expiring.getLast());
        assertEquals(0, cluster.extend(7, 0).leftMillis());
        assertThrows(IllegalArgumentException.class, () -> cluster.extend(7, -1));
        refusal(Code.NOT_FOUND, () -> cluster.extend(8, 1));
    }

    @Test
    void aCacheMovesToWhatIsCheaperOnceIfThatPays() {
        cluster.menu("""
                {"types": [{"name": "dear", "cores": 4, "memory": "4m", "price": 2},
                           {"name": "cheap", "cores": 4, "memory": "4m", "price": 1.9},
                           {"name": "free", "cores": 4, "memory": "4m", "price": 0.1}], "move_price": 10}
                """);
        cluster.report(typed(1, "dear", false));
        allocate(7, 2);
        attend().renew(Set.of(7L));
        cluster.report(typed(2, "cheap", false));
        cluster.tick();
        assertEquals(List.of(), alerts, "a twentieth is not worth a move");
        cluster.report(typed(3, "free", false));
        cluster.tick();
        cluster.tick();
        assertEquals(1, alerts.size());
        Reclaim alert = alerts.getFirst();
        assertEquals(Reclaim.Reason.CHEAPER, alert.reason());
        assertEquals(List.of(new RegionShare("host3:1", 2)), alert.targets());
        cluster.moved(7, alert.generation(), 2 * MIB, alert.targets());
        cluster.tick();
        assertEquals(1, alerts.size());
    }

    @Test
    void whenThereIsNotEnoughRoomCachesGetItWhoseTimeIsNotOver() {
        reports(1, 4);
        cluster.allocate(new CacheRequest(7, CLIENT, "over", 2 * MIB, 1_000, "", List.of(AllocationCandidate.ANY)));
        allocate(8, 2);
        attend().renew(Set.of(7L, 8L));
        time += 2_000;
        reports(2, 2);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 2, 8L, 2)));
        assertEquals(List.of(8L), alerts.stream().map(Reclaim::cacheId).toList());
        reports(3, 2);
        cluster.tick();
        assertEquals(List.of(8L, 7L), alerts.stream().map(Reclaim::cacheId).toList());
    }

    @Test
    void aCacheLeavesASpotServerOfATypeThatDoesNotLiveMuchLonger() {
        cluster.menu(
                "{\"types\": [{\"name\": \"t\", \"cores\": 4, \"memory\": \"4m\", \"price\": 2, \"spot_price\": 0.1}]}");
        for (int i = 100; i < 112; i++) {
            cluster.report(typed(i, "t", true));
            time += OVER_A_MINUTE;
        }
        time += 3_600_000 - 12 * OVER_A_MINUTE;
        for (int i = 100; i < 112; i++) {
            cluster.report(new ServerReport(
                    i, "host" + i + ":1", "t", true, "d/c/r", MIB, 4, 4, 30_000, true, 30_000, Map.of()));
            time += OVER_A_MINUTE;
        }
        cluster.report(typed(1, "t", true));
        CacheRequest day = new CacheRequest(7, CLIENT, "c", MIB, 86_400_000, "", List.of(AllocationCandidate.ANY));
        assertEquals("host1:1", cluster.allocate(day).shares().getFirst().address());
        attend().renew(Set.of(7L));
        time += 3_000_000;
        cluster.report(typed(1, "t", true));
        cluster.report(typed(2, "t", true));
        cluster.tick();
        assertEquals(List.of(), alerts);
        // All others have ended after an hour.
        time += 540_000;
        cluster.tick();
        assertEquals(1, alerts.size());
        assertEquals(Reclaim.Reason.ENDS_SOON, alerts.getFirst().reason());
        assertEquals(List.of(new RegionShare("host2:1", 1)), alerts.getFirst().targets());
    }

    /** They are a guess: a wrong one must not move all caches at once. */
    @Test
    void onlySomeCachesAtATimeLeaveAheadOfTheNotice() {
        cluster.menu(
                "{\"types\": [{\"name\": \"t\", \"cores\": 4, \"memory\": \"4m\", \"price\": 2, \"spot_price\": 0.1}]}");
        for (int i = 100; i < 112; i++) {
            cluster.report(typed(i, "t", true));
            time += OVER_A_MINUTE;
        }
        time += 3_600_000 - 12 * OVER_A_MINUTE;
        for (int i = 100; i < 112; i++) {
            cluster.report(typed(i, "t", true).leavingWithin(30_000));
            time += OVER_A_MINUTE;
        }
        for (int i = 1; i <= 3; i++) {
            cluster.report(typed(i, "t", true));
        }
        for (int i = 1; i <= 12; i++) {
            cluster.allocate(new CacheRequest(i, CLIENT, "c", MIB, 86_400_000, "", List.of(AllocationCandidate.ANY)));
        }
        time += 3_540_000;
        for (int i = 4; i <= 6; i++) {
            cluster.report(typed(i, "t", true));
        }
        cluster.tick();
        cluster.tick();
        assertEquals(8, early());
        CacheManager.Attendance line = attend();
        Set<Long> all = Set.of(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L);
        line.renew(all);
        Reclaim first = alerts.getFirst();
        assertEquals(Reclaim.Reason.ENDS_SOON, first.reason());
        cluster.moved(first.cacheId(), first.generation(), MIB, first.targets());
        cluster.tick();
        assertEquals(9, alerts.size(), "there is time for another one");
        assertEquals(8, early());
        // Their clients do not move them: the others have their turn while the servers may still be there.
        for (int i = 0; i < 61; i++) {
            now += 2 * SECOND;
            for (int server = 1; server <= 6; server++) {
                cluster.report(typed(server, "t", true));
            }
            line.renew(all);
            cluster.tick();
        }
        assertEquals(all, alerts.stream().map(Reclaim::cacheId).collect(Collectors.toSet()));
    }

    private long early() {
        return store.caches.values().stream()
                .filter(cache -> !cache.reserved().isEmpty())
                .count();
    }

    @Test
    void aTargetThatDoesNotWorkIsSetAside() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        attend().renew(Set.of(7L));
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        Reclaim first = alerts.getLast();
        List<RegionShare> stays = List.of(new RegionShare("host1:1", 4));
        cluster.moved(7, first.generation(), 4 * MIB, null, stays, ReclaimOutcome.nothing("host1:1"));
        cluster.tick();
        assertEquals(1, alerts.size(), "there is no other target yet");
        reports(3, 4);
        cluster.tick();
        assertEquals("host3:1", alerts.getLast().targets().getFirst().address());
        cluster.moved(7, alerts.getLast().generation(), 4 * MIB, null, stays, ReclaimOutcome.nothing("host1:1"));
        pass(4, () -> {
            cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
            reports(2, 4);
            reports(3, 4);
        });
        assertEquals(3, alerts.size(), "each may be tried again later");
    }

    /** The client reports unasked, for example after it has shrunk: it was not notified of the move. */
    @Test
    void aReportThatAnswersNoAlertSetsNoTargetAside() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        long generation = cluster.describe(7).allocation().generation();
        cluster.moved(7, generation, 3 * MIB, List.of(new RegionShare("host1:1", 3)));
        cluster.tick();
        attend().renew(Set.of(7L));
        assertEquals(List.of(new RegionShare("host2:1", 3)), alerts.getLast().targets());
    }

    /** There is room: it is only set aside for a moment. */
    @Test
    void roomThatIsSetAsideEndsNoCache() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        reports(3, 4);
        cluster.allocate(new CacheRequest(8, CLIENT, "over", 4 * MIB, 1_000, "", List.of(AllocationCandidate.ANY)));
        attend().renew(Set.of(7L, 8L));
        cluster.tick();
        time += 2_000;
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        cluster.moved(
                7,
                alerts.getLast().generation(),
                4 * MIB,
                null,
                List.of(new RegionShare("host1:1", 4)),
                ReclaimOutcome.nothing("host1:1"));
        pass(2, () -> {
            cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
            reports(2, 4);
            reports(3, 4);
        });
        assertEquals(List.of(), ends);
        assertEquals("over", cluster.describe(8).name());
        pass(2, () -> cluster.report(report(1, 4, 0, true, Map.of(7L, 4))));
        assertEquals(2, alerts.size(), "the room is tried again");
    }

    @Test
    void aServerThatStartsAnewTakesTheOldOnesPlace() {
        reports(1, 4);
        cluster.report(new ServerReport(9, "host1:1", "t", false, "d/c/r", MIB, 4, 4, 0, false, 0, Map.of()));
        assertEquals(1, cluster.servers().size());
        refusal(Code.OUT_OF_MEMORY, () -> allocate(7, 5));
        allocate(7, 4);
    }

    /** Reports a new server at the address of an earlier one. */
    private void restarts(long id, String address, int total, boolean leaving, Map<Long, Integer> held) {
        int taken = held.values().stream().mapToInt(Integer::intValue).sum();
        cluster.report(report(id, address, total, total - taken, leaving, held));
    }

    /** The cache's client is not connected while the server leaves; then the server is restarted. */
    @Test
    void aMoveOffAServerThatIsReplacedKeepsNoOtherFromLeaving() {
        reports(1, 4);
        reports(2, 4);
        allocate(7, 8);
        reports(3, 16);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        restarts(9, "host1:1", 4, false, Map.of());
        attend().renew(Set.of(7L));
        assertEquals(List.of(), alerts);
        cluster.report(report(2, 4, 0, true, Map.of(7L, 4)));
        cluster.tick();
        assertEquals(1, alerts.size());
        assertEquals("host2:1", alerts.getFirst().server());
        assertEquals(4, regions(alerts.getFirst().targets()));
    }

    private static int regions(List<RegionShare> shares) {
        return shares.stream().mapToInt(RegionShare::regions).sum();
    }

    private void leaves(long id, long withinMillis) {
        cluster.report(new ServerReport(
                id, "host" + id + ":1", "t", false, "d/c/r", MIB, 4, 0, 30_000, true, withinMillis, Map.of(7L, 4)));
    }

    /** Room for the regions of both servers comes only after both have reported that they leave. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void ofTwoServersTheOneThatEndsFirstIsLeftFirst(long first) {
        reports(1, 4);
        reports(2, 4);
        allocate(7, 8);
        CacheManager.Attendance line = attend();
        line.renew(Set.of(7L));
        leaves(3 - first, Long.MAX_VALUE);
        leaves(first, 30_000);
        assertEquals(List.of(), alerts);
        reports(3, 16);
        cluster.tick();
        assertEquals(1, alerts.size());
        assertEquals("host" + first + ":1", alerts.getFirst().server());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void aMoveOfWhichNobodyHasHeardMakesWayForOneOffAServerThatEndsSooner(long first) {
        reports(1, 4);
        reports(2, 4);
        allocate(7, 8);
        reports(3, 16);
        leaves(3 - first, 600_000);
        leaves(first, 30_000);
        attend().renew(Set.of(7L));
        Reclaim alert = alerts.getFirst();
        assertEquals("host" + first + ":1", alert.server());
        assertEquals(List.of(new RegionShare("host3:1", 4)), alert.targets());
        cluster.tick();
        assertEquals(1, alerts.size());
        cluster.moved(
                7,
                alert.generation(),
                8 * MIB,
                List.of(new RegionShare("host" + (3 - first) + ":1", 4), new RegionShare("host3:1", 4)));
        cluster.tick();
        assertEquals("host" + (3 - first) + ":1", alerts.getLast().server());
        assertEquals(2, alerts.size());
    }

    /** Each report states the time left from now on, so a server's end seems to change with each report. */
    @Test
    void twoThatEndAtAboutTheSameTimeDoNotTakeTurns() {
        reports(1, 4);
        reports(2, 4);
        allocate(7, 8);
        reports(3, 16);
        leaves(1, 30_000);
        long generation = store.caches.get(7L).generation();
        for (int i = 0; i < 10; i++) {
            now += SECOND / 2;
            leaves(1 + i % 2, 30_000);
            cluster.tick();
        }
        assertEquals(generation, store.caches.get(7L).generation());
    }

    @Test
    void aMoveOffAServerThatIsSilentKeepsNoOtherFromLeaving() {
        reports(1, 4);
        reports(2, 4);
        allocate(7, 8);
        reports(3, 16);
        attend().renew(Set.of(7L));
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        assertEquals("host1:1", alerts.getLast().server());
        pass(5, () -> {
            cluster.report(report(2, 4, 0, false, Map.of(7L, 4)));
            reports(3, 16);
        });
        assertEquals(1, alerts.size());
        cluster.report(report(2, 4, 0, true, Map.of(7L, 4)));
        assertEquals(2, alerts.size());
        assertEquals("host2:1", alerts.getLast().server());
        // The first server reports again, but moves are made one after the other.
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        assertEquals(2, alerts.size());
    }

    @Test
    void roomForWhatWasOnAServerThatIsGoneIsGivenUpOnceItIsGoneForLong() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        CacheManager.Attendance line = attend();
        Runnable others = () -> {
            line.renew(Set.of(7L));
            reports(2, 4);
        };
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        line.renew(Set.of(7L));
        pass(29, others);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 4));
        pass(3, others);
        allocate(8, 4);
        cluster.describe(7);
    }

    /** The manager ends before the client receives the move, and the server before the next manager leads. */
    @Test
    void roomForAMoveOfWhichALaterManagerHearsNothingIsGivenUp() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        assertEquals(Map.of(2L, 4), store.caches.get(7L).reserved());
        cluster = start();
        CacheManager.Attendance line = attend();
        Runnable others = () -> {
            line.renew(Set.of(7L));
            reports(2, 4);
        };
        pass(29, others);
        refusal(Code.OUT_OF_MEMORY, () -> allocate(8, 4));
        pass(31, others);
        allocate(8, 4);
        assertEquals(Map.of(), store.caches.get(7L).reserved());
    }

    @Test
    void whatMovesToAServerThatWasStartedAnewIsToldWhenThatLeaves() {
        reports(1, 2);
        reports(2, 2);
        Allocation first = allocate(7, 4);
        assertEquals(List.of(new RegionShare("host1:1", 2), new RegionShare("host2:1", 2)), first.shares());
        attend().renew(Set.of(7L));
        restarts(9, "host1:1", 4, false, Map.of());
        cluster.report(report(2, 2, 0, true, Map.of(7L, 2)));
        Reclaim alert = alerts.getLast();
        assertEquals(List.of(new RegionShare("host1:1", 2)), alert.targets());
        assertEquals(9, alert.targets().getFirst().grant().grant().serverId());
        List<RegionShare> all = List.of(new RegionShare("host1:1", 4));
        Allocation after = cluster.moved(7, alert.generation(), 4 * MIB, all);
        assertEquals(Map.of(1L, 2, 9L, 2), store.caches.get(7L).regions(), "what was lost is not on the new one");
        assertEquals(all, after.shares(), "as the client has it");
        assertEquals(9, after.shares().getFirst().grant().grant().serverId());
        assertEquals(2, after.shares().getFirst().grant().grant().regions());
        assertEquals(after, cluster.moved(7, after.generation(), 4 * MIB, all), "it says the same again");
        reports(3, 8);
        restarts(9, "host1:1", 4, true, Map.of(7L, 2));
        assertEquals(2, alerts.size());
        assertEquals("host1:1", alerts.getLast().server());
        assertEquals(List.of(new RegionShare("host3:1", 2)), alerts.getLast().targets());
    }

    /** The cache's reservation was given up meanwhile; the server itself reports the regions that the cache holds. */
    @Test
    void whatAServerThatWasStartedAnewHoldsIsItsOwn() {
        reports(1, 2);
        reports(2, 2);
        allocate(7, 4);
        attend().renew(Set.of(7L));
        restarts(9, "host1:1", 4, false, Map.of(7L, 2));
        cluster.moved(
                7, cluster.describe(7).allocation().generation(), 4 * MIB, List.of(new RegionShare("host1:1", 4)));
        assertEquals(Map.of(1L, 2, 9L, 2), store.caches.get(7L).regions());
    }

    @Test
    void aServerThatIsGoneIsForgottenOnceNoCacheHasAnythingThere() {
        reports(1, 4);
        reports(2, 4);
        long used = allocate(7, 4).shares().getFirst().address().equals("host1:1") ? 1 : 2;
        CacheManager.Attendance line = attend();
        pass(3_610, () -> {
            reports(3, 4);
            line.renew(Set.of(7L));
        });
        assertEquals(Set.of(used, 3L), store.servers.keySet());
    }

    /** With many servers that leave, and report each second, each report would otherwise plan all moves. */
    @Test
    void aReportPlansTheMovesOffItsOwnServerAndTheTickAllOthers() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 4);
        allocate(8, 4);
        reports(3, 16);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        assertEquals(Map.of(3L, 4), store.caches.get(7L).reserved());
        // While the cache moves by itself, no move off its server is planned.
        cluster.reserve(8, "host3:1", 1);
        cluster.report(report(2, 4, 0, true, Map.of(8L, 4)));
        for (int second = 1; second < CacheManager.GROWTH_MILLIS / 1000; second++) {
            now += SECOND;
            reports(3, 16);
            cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
            cluster.report(report(2, 4, 0, true, Map.of(8L, 4)));
            cluster.tick();
        }
        // Its client has not continued.
        now += 2 * SECOND;
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        assertEquals(Map.of(3L, 1), store.caches.get(8L).reserved());
        cluster.tick();
        assertEquals(Map.of(3L, 4), store.caches.get(8L).reserved());
    }

    /** Else it would take the room that its own move needs. */
    @Test
    void aCacheForWhoseMoveThereIsNoRoomDoesNotGrow() {
        reports(1, 4);
        allocate(7, 4);
        reports(2, 2);
        cluster.report(report(1, 4, 0, true, Map.of(7L, 4)));
        assertTrue(refusal(Code.BUSY, () -> cluster.reallocate(7, 5 * MIB, List.of()))
                .getMessage()
                .contains("has regions on memory server host1:1, which leaves"));
        reports(3, 8);
        cluster.tick();
        attend().renew(Set.of(7L));
        assertEquals(4, regions(alerts.getLast().targets()));
    }

    /** Such a cache must not stay there, however few caches may move to what is cheaper. */
    @Test
    void aCacheThatIsExtendedForEverLeavesSpotServers() {
        ManagerOptions none = new ManagerOptions(3 * SECOND, 30 * SECOND, false, 0, ManagerOptions.DEFAULT.supply());
        cluster = new ClusterManager(store, none, () -> now, () -> time);
        cluster.menu(
                "{\"types\": [{\"name\": \"t\", \"cores\": 4, \"memory\": \"4m\", \"price\": 2, \"spot_price\": 0.1}]}");
        cluster.report(typed(1, "t", true));
        CacheRequest day = new CacheRequest(7, CLIENT, "c", MIB, 86_400_000, "", List.of(AllocationCandidate.ANY));
        assertEquals("host1:1", cluster.allocate(day).shares().getFirst().address());
        attend().renew(Set.of(7L));
        cluster.report(typed(2, "t", false));
        cluster.tick();
        assertEquals(List.of(), alerts);
        cluster.extend(7, 0);
        cluster.tick();
        assertEquals(1, alerts.size());
        assertEquals(List.of(new RegionShare("host2:1", 1)), alerts.getFirst().targets());
    }

    /** Its client moves nothing off a dead server, so no move needs the room. */
    @Test
    void aCacheGrowsAlthoughAServerThatWasLeavingHasEnded() {
        reports(1, 2);
        reports(2, 2);
        allocate(7, 4);
        cluster.report(report(1, 2, 0, true, Map.of(7L, 2)));
        refusal(Code.BUSY, () -> cluster.reallocate(7, 5 * MIB, List.of()));
        now += 4 * SECOND;
        cluster.report(report(2, 2, 0, false, Map.of(7L, 2)));
        reports(3, 8);
        cluster.tick();
        assertEquals(1, regions(cluster.reallocate(7, 5 * MIB, List.of()).reserved()));
    }

    @Test
    void cachesAreListedInPages() {
        reports(1, 10);
        for (long id : List.of(-1L, 5L, 3L, Long.MIN_VALUE)) {
            cluster.allocate(new CacheRequest(
                    id, CLIENT, "cache" + id, MIB, id == 5 ? 60_000 : 0, "", List.of(AllocationCandidate.ANY)));
        }
        time += 1_000;
        List<CacheDescription> first = cluster.list(0, 3);
        assertEquals(List.of(3L, 5L, Long.MIN_VALUE), ids(first));
        assertEquals(
                List.of(0L, 59_000L, 0L),
                first.stream().map(CacheDescription::leftMillis).toList());
        assertEquals(List.of(-1L), ids(cluster.list(Long.MIN_VALUE, 3)));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.list(0, 0));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.list(0, CacheManager.MAX_PAGE + 1));
    }

    private static List<Long> ids(List<CacheDescription> caches) {
        return caches.stream().map(cache -> cache.allocation().cacheId()).toList();
    }

    @Test
    void whatWasSeenOfLivesOutlivesAManager() {
        for (int i = 1; i <= 12; i++) {
            cluster.report(typed(100 + i, "spot", true));
            time += 60_000;
            now += SECOND;
            cluster.report(typed(100 + i, "spot", true).leavingWithin(30_000));
        }
        cluster.tick();
        assertEquals(Map.of(1 / 60.0, 12), lives());
        cluster = start();
        cluster.report(typed(200, "spot", true));
        time += 120_000;
        cluster.report(typed(200, "spot", true).leavingWithin(30_000));
        cluster.tick();
        assertEquals(Map.of(1 / 60.0, 12, 2 / 60.0, 1), lives(), "to what another has seen it adds");
    }

    /** Its life is censored at the drain, and must not count again as an end when its record says that it leaves. */
    @Test
    void aSpotServerThatIsDrainedIsOneLifeThatMightHaveBeenLonger() {
        cluster.report(typed(1, "spot", true));
        time += 3_600_000;
        cluster.drain("host1:1");
        cluster.report(typed(1, "spot", true).leavingWithin(30_000));
        cluster.tick();
        assertEquals(
                List.of(new LifeRecord.LifeSample(1, 0, 1, time / 3_600_000.0)),
                store.lives.get("spot").seen());
    }

    /** The process was started again, but the machine lives. */
    @Test
    void aSpotServerThatIsStartedAgainAtItsAddressHasNotEnded() {
        cluster.report(typed(1, "spot", true));
        time += 3_600_000;
        now += 2 * SECOND;
        cluster.report(new ServerReport(9, "host1:1", "spot", true, "d/c/r", MIB, 4, 4, 0, false, 0, Map.of()));
        cluster.tick();
        cluster.tick();
        assertEquals(Set.of(9L), store.servers.keySet());
        assertEquals(
                List.of(new LifeRecord.LifeSample(
                        (3_600_000 - 2_000) / 3_600_000.0, 0, 1, (time - 2_000) / 3_600_000.0)),
                store.lives.get("spot").seen());
    }

    /** The number of servers that ended, by their hours. */
    private Map<Double, Integer> lives() {
        return store.lives.get("spot").seen().stream()
                .collect(Collectors.toMap(LifeRecord.LifeSample::hours, LifeRecord.LifeSample::ended, Integer::sum));
    }
}
