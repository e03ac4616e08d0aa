package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.refusal;
import static io.farheap.manager.service.TestCluster.share;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a manager makes of the reports of clients; only the tests advance the clock. */
class ReportedMovesTest {

    private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT);

    /** Cache 7 has all of server 1, and server 2 has room. */
    private void mayMoveTo(int regions) {
        cluster.allocateOn(1, 7, 4);
        cluster.reports(2, regions);
    }

    /** The total is right, but it would get a grant for room that was promised to others. */
    @Test
    void aCacheHasNoMoreOnAServerThanItWasGivenThere() {
        mayMoveTo(2);
        cluster.reports(3, 2);
        cluster.attends(7L);
        cluster.leaves(1, 4);
        List<RegionShare> targets = cluster.alerts.getLast().targets();
        assertEquals(List.of(share(2, 2), share(3, 2)), targets);
        List<RegionShare> wrong = List.of(share(2, 3), share(3, 1));
        refusal(Code.INVALID_ARGUMENT, () -> cluster.manager.moved(7, cluster.generation(7), 4 * MIB, wrong));
        List<RegionShare> stays = List.of(share(1, 2), share(2, 2));
        assertEquals(
                stays,
                cluster.manager.moved(7, cluster.generation(7), 4 * MIB, stays).shares());
    }

    /** A report that answers no alert, for example since the cache has become smaller, says nothing of the targets. */
    @Test
    void onlyTheAnswerToItsAlertSettlesAMove() {
        mayMoveTo(4);
        cluster.attends(7L);
        cluster.leaves(1, 4);
        Reclaim first = cluster.alerts.getLast();
        List<RegionShare> three = List.of(share(1, 3));
        cluster.manager.moved(7, first.generation(), 3 * MIB, three);
        assertEquals(Map.of(2L, 3), cluster.record(7).reserved());
        cluster.manager.tick();
        Reclaim second = cluster.alerts.getLast();
        assertEquals(List.of(share(2, 3)), second.targets());
        assertEquals(first.generation() + 1, second.generation());
        cluster.manager.moved(7, second.generation(), 3 * MIB, three);
        assertEquals(second.generation(), cluster.generation(7), "nothing has changed");
        ReclaimOutcome other = ReclaimOutcome.nothing("host9:1");
        cluster.manager.moved(7, second.generation(), 3 * MIB, null, three, other);
        assertEquals(Map.of(2L, 3), cluster.record(7).reserved());
        ReclaimOutcome answer = ReclaimOutcome.nothing("host1:1");
        cluster.manager.moved(7, second.generation(), 3 * MIB, null, three, answer);
        assertEquals(Map.of(), cluster.record(7).reserved());
    }

    /** Regions that are on a target already need no room there any more. */
    @Test
    void whatHasMovedNeedsNoRoom() {
        mayMoveTo(4);
        cluster.leaves(1, 4);
        cluster.manager.moved(7, cluster.generation(7), 4 * MIB, List.of(share(1, 1), share(2, 3)));
        assertEquals(Map.of(2L, 1), cluster.record(7).reserved());
        cluster.manager.moved(7, cluster.generation(7), 4 * MIB, List.of(share(2, 4)));
        assertEquals(Map.of(), cluster.record(7).reserved());
    }

    /** The client has to be told at once that it should give way, and not after ten seconds. */
    @Test
    void growthHidesNoServerThatLeaves() {
        mayMoveTo(8);
        Allocation growing = cluster.manager.reallocate(7, 6 * MIB);
        cluster.attends(7L);
        cluster.leaves(1, 4);
        Reclaim notice = cluster.alerts.getLast();
        assertEquals("host1:1", notice.server());
        assertEquals(List.of(), notice.targets());
        assertEquals(growing.generation(), notice.generation());
        cluster.leaves(1, 4);
        cluster.manager.tick();
        assertEquals(1, cluster.alerts.size());
        // It gives up.
        cluster.manager.moved(7, growing.generation(), 4 * MIB, List.of(share(1, 4)));
        cluster.manager.tick();
        assertEquals(List.of(share(2, 4)), cluster.alerts.getLast().targets());
        assertEquals(2, cluster.alerts.size());
    }

    /** The rate is that of the time in which regions moved, whenever the client has heard of it, and it is on disk. */
    @Test
    void aRateIsThatOfTheMovesAndOutlivesAManager() {
        cluster.reports(1, 400);
        cluster.allocate(7, 200, 0);
        cluster.reports(2, 400);
        cluster.leaves(1, 400);
        for (int i = 0; i < 20; i++) {
            cluster.pass(2_000);
            cluster.leaves(1, 400);
            cluster.reports(2, 400);
        }
        cluster.attends(7L);
        Reclaim alert = cluster.alerts.getLast();
        ReclaimOutcome outcome = new ReclaimOutcome("host1:1", 300, 100);
        cluster.manager.moved(7, alert.generation(), 200 * MIB, null, alert.targets(), outcome);
        cluster.manager.tick();
        cluster.pass(6_000);
        cluster.manager.tick();
        double given = 1e9 / 1.09;
        double first = given + 0.2 * (200 * MIB / 0.2 - given);
        assertEquals(first, rate(), 1e6);
        cluster.lead();
        cluster.attends(7L);
        cluster.reports(3, 400);
        cluster.leaves(2, 400);
        Reclaim second = cluster.alerts.getLast();
        cluster.pass(300);
        cluster.manager.moved(
                7, second.generation(), 200 * MIB, null, second.targets(), new ReclaimOutcome("host2:1", 300, 100));
        cluster.pass(6_000);
        cluster.manager.tick();
        assertEquals(first + 0.2 * (200 * MIB / 0.2 - first), rate(), 1e6);
    }

    @Test
    void noMoveBeganBeforeItWasPlanned() {
        cluster.reports(1, 400);
        cluster.allocate(7, 200, 0);
        cluster.reports(2, 400);
        cluster.attends(7L);
        cluster.leaves(1, 400);
        cluster.pass(300);
        Reclaim alert = cluster.alerts.getLast();
        ReclaimOutcome outcome = new ReclaimOutcome("host1:1", 60_000, 0);
        cluster.manager.moved(7, alert.generation(), 200 * MIB, null, alert.targets(), outcome);
        cluster.pass(6_000);
        cluster.manager.tick();
        double given = 1e9 / 1.09;
        assertEquals(given + 0.2 * (200 * MIB / 0.3 - given), rate(), 1e6);
    }

    private double rate() {
        return Objects.requireNonNull(cluster.store.lives.get("t")).bytesPerSecond();
    }

    /** A client moves its regions one after the other, for as long as that takes. */
    @Test
    void roomThatIsRenewedIsPromisedToNoOther() {
        mayMoveTo(4);
        Allocation reserved = cluster.manager.reserve(7, "host2:1", 4);
        for (int i = 0; i < 15; i++) {
            cluster.pass(2_500);
            cluster.attends(7L);
            cluster.reports(1, 4);
            cluster.reports(2, 4);
            cluster.manager.tick();
            assertEquals(reserved, cluster.manager.reserve(7, "host2:1", 4));
            refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 1, 0));
        }
        // Also if the server that it leaves is about to end: its client learns that, and continues.
        cluster.leaves(1, 4);
        assertEquals(List.of(), cluster.alerts.getLast().targets());
        for (int i = 0; i < 5; i++) {
            cluster.pass(2_500);
            cluster.leaves(1, 4);
            cluster.reports(2, 4);
            cluster.manager.tick();
            assertEquals(reserved, cluster.manager.reserve(7, "host2:1", 4));
            assertEquals(Map.of(2L, 4), cluster.record(7).reserved());
        }
        assertEquals(1, cluster.alerts.size());
        // A client that does not continue receives an alert with targets.
        for (int i = 0; i < 5; i++) {
            cluster.pass(2_500);
            cluster.leaves(1, 4);
            cluster.reports(2, 4);
            cluster.manager.tick();
        }
        assertEquals(List.of(share(2, 4)), cluster.alerts.getLast().targets());
    }

    /** The report may have begun before; the client continues with the grant for that room. */
    @Test
    void aReportOfWhereACacheIsGivesUpNoRoomOfItsClientsMove() {
        mayMoveTo(4);
        cluster.manager.reserve(7, "host2:1", 4);
        long generation = cluster.generation(7);
        cluster.manager.moved(7, generation, 4 * MIB, List.of(share(1, 4)));
        assertEquals(Map.of(2L, 4), cluster.record(7).reserved());
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 1, 0));
        for (int i = 0; i < 11; i++) {
            cluster.pass(1_000);
            cluster.reports(1, 4);
            cluster.reports(2, 4);
            cluster.attends(7L);
            cluster.manager.tick();
        }
        assertEquals(Map.of(), cluster.record(7).reserved(), "it is not renewed");
    }

    private void passesWhileRegionsAreOn(int there) {
        cluster.pass(2_500);
        cluster.attends(7L);
        cluster.reports(1, 4);
        cluster.manager.report(TestCluster.server(2, "t", false, 4, there == 0 ? Map.of() : Map.of(7L, there)));
        cluster.manager.tick();
    }

    /** A client that hangs keeps no room from others. */
    @Test
    void roomIsRenewedAsLongAsRegionsCome() {
        mayMoveTo(4);
        Allocation reserved = cluster.manager.reserve(7, "host2:1", 4);
        for (int i = 0; i < 65; i++) {
            passesWhileRegionsAreOn(Math.min(2, i / 20));
            assertEquals(reserved, cluster.manager.reserve(7, "host2:1", 4));
        }
        passesWhileRegionsAreOn(2);
        refusal(Code.BUSY, () -> cluster.manager.reserve(7, "host2:1", 4));
    }

    /** It has a region on one of them, and none come. */
    @Test
    void aClientThatHangsWhileItMovesToTwoServersKeepsNoRoomEither() {
        mayMoveTo(4);
        cluster.reports(3, 4);
        cluster.manager.reserve(7, "host2:1", 2);
        Allocation reserved = cluster.manager.reserve(7, "host3:1", 1);
        for (int i = 0; i < 25; i++) {
            passesWhileRegionsAreOn(1);
            cluster.reports(3, 4);
            assertEquals(reserved, cluster.manager.reserve(7, "host2:1", 2));
            assertEquals(reserved, cluster.manager.reserve(7, "host3:1", 1));
        }
        passesWhileRegionsAreOn(1);
        cluster.reports(3, 4);
        refusal(Code.BUSY, () -> cluster.manager.reserve(7, "host2:1", 2));
    }

    @Test
    void roomOnASilentServerIsNotRenewed() {
        mayMoveTo(4);
        Allocation reserved = cluster.manager.reserve(7, "host2:1", 4);
        cluster.pass(2_500);
        cluster.reports(1, 4);
        assertEquals(reserved, cluster.manager.reserve(7, "host2:1", 4));
        cluster.pass(2_500);
        cluster.reports(1, 4);
        refusal(Code.NOT_FOUND, () -> cluster.manager.reserve(7, "host2:1", 4));
    }

    /** Otherwise each change of leader would end the moves of applications. */
    @Test
    void aNewManagerRenewsRoomOnAServerThatHasNotReportedToItYet() {
        mayMoveTo(4);
        Allocation reserved = cluster.manager.reserve(7, "host2:1", 4);
        cluster.lead();
        assertEquals(reserved, cluster.manager.reserve(7, "host2:1", 4));
    }

    /** Its next change could be another move of its own, and the one after that, until the server has ended. */
    @Test
    void aClientThatGivesWayReservesNoOtherRoomBefore() {
        mayMoveTo(8);
        cluster.manager.reserve(7, "host2:1", 2);
        cluster.attends(7L);
        cluster.leaves(1, 4);
        assertEquals(List.of(), cluster.alerts.getLast().targets());
        cluster.manager.moved(7, cluster.generation(7), 4 * MIB, List.of(share(1, 3), share(2, 1)));
        refusal(Code.BUSY, () -> cluster.manager.reserve(7, "host2:1", 1));
        assertEquals(Map.of(2L, 3), cluster.record(7).reserved());
        cluster.manager.tick();
        assertEquals(List.of(share(2, 3)), cluster.alerts.getLast().targets());
    }

    /** A client that moves off the first of them itself does not give way to that one. */
    @Test
    void eachServerThatLeavesIsAnnounced() {
        cluster.reports(1, 2);
        cluster.reports(2, 2);
        cluster.allocate(7, 4, 0);
        cluster.reports(3, 4);
        cluster.manager.reserve(7, "host3:1", 2);
        cluster.attends(7L);
        cluster.leaves(1, 2);
        cluster.leaves(2, 2);
        cluster.manager.tick();
        assertEquals(
                List.of("host1:1", "host2:1"),
                cluster.alerts.stream().map(Reclaim::server).toList());
    }

    /** Its next report has the generation of the manager's new plan, and what the servers hold by then. */
    @Test
    void aClientThatAnswersAnEarlierAlertMakesNoMistake() {
        mayMoveTo(4);
        cluster.attends(7L);
        cluster.leaves(1, 4);
        Reclaim first = cluster.alerts.getLast();
        assertEquals(List.of(share(2, 4)), first.targets());
        cluster.reports(3, 4);
        cluster.leaves(2, 4);
        assertEquals(Map.of(3L, 4), cluster.record(7).reserved());
        ReclaimOutcome outcome = new ReclaimOutcome("host1:1", 50, 0);
        refusal(
                Code.BUSY,
                () -> cluster.manager.moved(7, first.generation(), 4 * MIB, null, List.of(share(2, 4)), outcome));
    }

    /** Only as long as a cache waits for room do the servers that leave wait for each other. */
    @Test
    void aCacheThatIsSmallerNowIsNotStuck() {
        cluster.reports(1, 2);
        cluster.reports(2, 2);
        cluster.allocate(7, 4, 0);
        cluster.leaves(1, 2);
        assertEquals(Map.of(), cluster.record(7).reserved());
        cluster.manager.moved(7, cluster.generation(7), 2 * MIB, List.of(share(2, 2)));
        cluster.reports(4, 1);
        cluster.allocate(8, 1, 0);
        cluster.reports(5, 1);
        cluster.leaves(4, 1);
        assertEquals(Map.of(5L, 1), cluster.record(8).reserved());
        cluster.pass(4_000);
        cluster.reports(6, 1);
        cluster.leaves(4, 1);
        assertEquals(Map.of(6L, 1), cluster.record(8).reserved(), "server 5 is silent");
    }

    /** Its server knows better: the room was reserved once, and its client was late. */
    @Test
    void whatAServerReportsIsThere() {
        cluster.reports(1, 4);
        cluster.allocate(7, 4, 0);
        cluster.manager.report(TestCluster.server(2, "t", false, 4, Map.of(7L, 3)));
        List<RegionShare> there = List.of(share(1, 1), share(2, 3));
        assertEquals(
                there,
                cluster.manager.moved(7, cluster.generation(7), 4 * MIB, there).shares());
    }
}
