package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.SECOND;
import static io.farheap.manager.service.TestCluster.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.ReclaimOutcome;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which cache gets room that becomes free, if no machines can be started; only the tests advance the clock. */
class FreedRoomTest {

    private final TestCluster cluster =
            new TestCluster(new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, Supply.DEFAULT), 1);

    /** Cache 7 has found no room for its regions on server 1, which leaves, and cache 5 has all of server 2. */
    @BeforeEach
    void isStuck() {
        cluster.reports(1, 4);
        cluster.allocate(7, 4, 0);
        cluster.reports(2, 4);
        cluster.allocate(5, 4, 0);
        cluster.reports(2, 4);
        cluster.leaves(1, 4);
        cluster.manager.tick();
        assertEquals(Map.of(), cluster.record(7).reserved());
    }

    private void areGone() {
        cluster.manager.deallocate(7);
        cluster.manager.deallocate(5);
    }

    /** The pause between two searches is no reason to lose it. */
    @Test
    void aNewCacheDoesNotTakeTheRoomThatRegionsOnALeavingServerWaitFor() {
        cluster.manager.deallocate(5);
        cluster.reports(2, 4);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 4, 0));
        assertEquals(Map.of(2L, 4), cluster.record(7).reserved());
    }

    @Test
    void growthDoesNotTakeItEither() {
        cluster.reports(3, 1);
        cluster.allocate(8, 1, 0);
        cluster.reports(3, 1);
        cluster.manager.deallocate(5);
        cluster.reports(2, 4);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.manager.reallocate(8, 3 * TestCluster.MIB, List.of()));
        assertEquals(Map.of(2L, 4), cluster.record(7).reserved());
    }

    /** A client that moves its cache itself may otherwise have room before the server reports it as free. */
    @Test
    void norDoesAMoveThatAClientAsksFor() {
        cluster.reports(3, 1);
        cluster.allocate(8, 1, 0);
        cluster.manager.deallocate(5);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.manager.reserve(8, "host2:1", 1));
        cluster.reports(2, 4);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.manager.reserve(8, "host2:1", 1));
        cluster.manager.tick();
        assertEquals(Map.of(2L, 4), cluster.record(7).reserved());
    }

    /** It leaves two servers that end at the same time one after the other: time may not be enough for both. */
    @Test
    void aCacheLeavesTheServerWithMostOfItsRegionsFirst() {
        areGone();
        cluster.reports(11, 2);
        cluster.reports(12, 6);
        cluster.allocate(9, 8, 0);
        cluster.leaves(11, 2);
        cluster.leaves(12, 6);
        assertEquals(Map.of(), cluster.record(9).reserved());
        cluster.reports(13, 16);
        cluster.manager.tick();
        assertEquals(Map.of(13L, 6), cluster.record(9).reserved());
    }

    /** There is no room for what is on the server that ends first, and some for what is on the other one. */
    @Test
    void aCacheLeavesAnotherServerIfThereIsOnlyRoomForThatOne() {
        areGone();
        cluster.reports(11, 8);
        cluster.reports(12, 4);
        cluster.allocate(9, 12, 0);
        cluster.reports(13, 4);
        cluster.leaves(11, 8, 10_000);
        cluster.leaves(12, 4, 14_000);
        assertEquals(Map.of(), cluster.record(9).reserved());
        cluster.pass(500);
        cluster.manager.tick();
        assertEquals(Map.of(13L, 4), cluster.record(9).reserved());
        long generation = cluster.generation(9);
        cluster.pass(500);
        cluster.manager.tick();
        assertEquals(Map.of(13L, 4), cluster.record(9).reserved());
        assertEquals(generation, cluster.generation(9), "the move is not planned again");
    }

    /** There are more of them than one call or one round of searches considers at once. */
    @Test
    void roomThatBecomesFreeWhileManyCachesLookForItIsForTheFirstThatItIsEnoughFor() {
        areGone();
        cluster.reports(11, 96);
        for (int id = 101; id <= 120; id++) {
            cluster.allocate(id, id <= 116 ? 4 : 8, 0);
        }
        cluster.leaves(11, 96, 10_000);
        cluster.manager.tick();
        cluster.reports(12, 1);
        refusal(Code.BUSY, () -> cluster.allocate(8, 1, 0));
        cluster.reports(13, 4);
        cluster.manager.tick();
        ControlException refused = assertThrows(ControlException.class, () -> cluster.allocate(8, 4, 0));
        assertTrue(refused.code() == Code.BUSY || refused.code() == Code.OUT_OF_MEMORY, refused.getMessage());
        assertEquals(
                1,
                cluster.store.caches.values().stream()
                        .filter(cache -> cache.reserved().equals(Map.of(13L, 4)))
                        .count());
    }

    /** Sixteen come before it, for which the room is not enough. */
    @Test
    void theSeventeenthCacheOnAServerThatLeavesComesBeforeANewOne() {
        areGone();
        cluster.reports(11, 129);
        for (int id = 101; id <= 117; id++) {
            cluster.allocate(id, id <= 116 ? 8 : 1, 0);
        }
        cluster.leaves(11, 129, 10_000);
        cluster.manager.tick();
        cluster.reports(12, 1);
        refusal(Code.BUSY, () -> cluster.allocate(8, 1, 0));
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 1, 0));
        assertEquals(Map.of(12L, 1), cluster.record(117).reserved());
    }

    /** Each of them is on four servers, and a call makes about sixteen searches for all together. */
    @Test
    void aCallMakesAFewSearchesForCachesThatLeaveSeveralServersAtOnce() {
        cluster.manager.deallocate(7);
        for (int cache = 0; cache < 16; cache++) {
            for (int server = 0; server < 4; server++) {
                cluster.reports(1_000 + 4 * cache + server, 8 - 2 * server);
            }
            cluster.allocate(1_000 + cache, 20, 0);
        }
        for (int server = 0; server < 64; server++) {
            cluster.leaves(1_000 + server, 8 - 2 * (server % 4));
        }
        cluster.manager.tick();
        cluster.reports(12, 1);
        long before = cluster.manager.searches();
        refusal(Code.BUSY, () -> cluster.allocate(8, 1, 0));
        long searches = cluster.manager.searches() - before;
        assertTrue(searches <= 20, () -> searches + " searches");
    }

    /** A look at what expired caches would give is no sign that there is more. */
    @Test
    void cachesThatHaveNotTakenTheirRegionsCauseNoSearches() {
        cluster.reports(3, 2);
        cluster.allocate(6, 1, 1_000);
        cluster.allocate(9, 1, 1_000);
        cluster.attends(6L, 9L);
        for (int tick = 0; tick < 20; tick++) {
            cluster.pass(100);
            cluster.manager.tick();
            cluster.manager.report(TestCluster.server(3, "t", false, 2, Map.of()));
            cluster.leaves(1, 4);
        }
        long before = cluster.manager.searches();
        cluster.pass(500);
        cluster.manager.tick();
        assertTrue(cluster.manager.searches() > before);
        before = cluster.manager.searches();
        cluster.pass(100);
        cluster.manager.tick();
        assertEquals(before, cluster.manager.searches());
    }

    private void pass() {
        cluster.pass(1_000);
        cluster.leaves(1, 4);
        cluster.reports(2, 4);
        cluster.reports(4, 3);
        cluster.manager.tick();
    }

    /** The server of a cache that is ended is cut off: three regions are free, and the fourth does not come. */
    @Test
    void roomThatIsTooLittleWithoutThatOfAnEndedCacheIsForOthers() {
        cluster.reports(3, 1);
        cluster.allocate(6, 1, 60_000);
        cluster.reports(4, 3);
        cluster.attends(6L);
        for (int second = 0; second < 100 && cluster.ends.isEmpty(); second++) {
            cluster.reports(3, 1);
            pass();
        }
        assertEquals(List.of(6L), cluster.ends);
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(8, 3, 0));
        for (int second = 0; second < 25; second++) {
            pass();
        }
        assertEquals(List.of(TestCluster.share(4, 3)), cluster.allocate(8, 3, 0).shares());
    }

    /** Whether a call is refused for a moment. */
    private boolean isBusy(long id, int regions) {
        try {
            cluster.allocate(id, regions, 0);
            return false;
        } catch (ControlException e) {
            return e.code() == Code.BUSY;
        }
    }

    /** These find no room, and one call looks for room for sixteen of them. */
    private void areStuck(int caches) {
        cluster.reports(11, 8 * caches);
        for (int id = 1_001; id <= 1_000 + caches; id++) {
            cluster.allocate(id, 8, 0);
        }
        cluster.leaves(11, 8 * caches, 10_000);
        cluster.manager.tick();
    }

    /** It is too little for each of them. */
    private void someBecomesFree() {
        cluster.manager.report(TestCluster.server(12, "t", false, 2, Map.of(500L, 1)));
        cluster.manager.report(TestCluster.server(12, "t", false, 2, Map.of()));
    }

    @Test
    void aNewCacheGetsRoomThatIsOfNoUseToOthersWhileMoreBecomesFreeAllTheTime() {
        aNewCacheGetsRoomBeside(40, 0);
    }

    /** A round of searches takes more than a second. */
    @Test
    void aNewCacheWaitsForTwoSecondsAtMostHoweverManyLookForRoomBeforeIt() {
        aNewCacheGetsRoomBeside(2_000, 250);
    }

    /** In ten calls at most, each so many ms after the one before. */
    private void aNewCacheGetsRoomBeside(int stuck, long millis) {
        areGone();
        areStuck(stuck);
        boolean waits = true;
        for (int call = 0; call < 10 && waits; call++) {
            cluster.pass(millis);
            someBecomesFree();
            waits = isBusy(8, 1);
            cluster.manager.tick();
        }
        assertEquals(Map.of(12L, 1), cluster.record(8).regions());
    }

    /** Its client asks every five seconds. */
    @Test
    void aNewCacheThatSeldomAsksWaitsNoLongerThanUntilItAsksAgain() {
        areGone();
        areStuck(300);
        someBecomesFree();
        assertTrue(isBusy(8, 1));
        cluster.pass(5_000);
        cluster.leaves(11, 2_400, 10_000);
        someBecomesFree();
        assertFalse(isBusy(8, 1));
        assertEquals(Map.of(12L, 1), cluster.record(8).regions());
    }

    /** A hundred clients ask again all the time. */
    @Test
    void allCallsBetweenTwoTicksMakeAsFewSearchesAsATick() {
        areGone();
        areStuck(40);
        for (int tick = 0; tick < 4; tick++) {
            long before = cluster.manager.searches();
            for (int call = 0; call < 100; call++) {
                someBecomesFree();
                isBusy(8, 3);
            }
            long searches = cluster.manager.searches() - before;
            assertTrue(searches <= 256 + 2 * 16, () -> searches + " searches");
            cluster.manager.tick();
        }
    }

    /** The other four of its eight regions would get the room of a cache that is ended, and its server is cut off. */
    @Test
    void roomThatIsKeptInVainIsForTheServerThatEndsLater() {
        areGone();
        cluster.reports(11, 8);
        cluster.reports(12, 4);
        cluster.allocate(9, 12, 0);
        cluster.reports(13, 4);
        cluster.allocate(6, 4, 1_000);
        cluster.attends(6L);
        cluster.manager.tick();
        cluster.pass(1_000);
        cluster.reports(13, 4);
        cluster.reports(14, 4);
        cluster.leaves(11, 8, 20_000);
        assertEquals(List.of(6L), cluster.ends);
        for (int second = 0; second < 6; second++) {
            cluster.leaves(11, 8, 20_000 - 1_000L * second);
            cluster.leaves(12, 4, 30_000 - 1_000L * second);
            cluster.reports(14, 4);
            cluster.manager.tick();
            cluster.pass(1_000);
        }
        assertEquals(Map.of(14L, 4), cluster.record(9).reserved());
    }

    /** Its client does not ask again. */
    @Test
    void aMoveThatAClientAsksForIsNotRefusedForAMoment() {
        areGone();
        cluster.allocateOn(3, 9, 1);
        areStuck(40);
        someBecomesFree();
        cluster.manager.reserve(9, "host12:1", 1);
        assertEquals(Map.of(12L, 1), cluster.record(9).reserved());
    }

    /** Others would not be looked for. */
    @Test
    void cachesThatDidNotGetTheirTargetsCauseNoSearchesForAMoment() {
        areGone();
        cluster.reports(11, 34);
        Long[] ids = new Long[17];
        for (int cache = 0; cache < ids.length; cache++) {
            ids[cache] = 101L + cache;
            cluster.allocate(ids[cache], 2, 0);
        }
        cluster.attends(ids);
        cluster.reports(12, 34);
        cluster.leaves(11, 34);
        cluster.manager.tick();
        for (long id : ids) {
            assertEquals(Map.of(12L, 2), cluster.record(id).reserved());
            cluster.manager.moved(
                    id,
                    cluster.generation(id),
                    2 * TestCluster.MIB,
                    null,
                    List.of(TestCluster.share(11, 2)),
                    new ReclaimOutcome("host11:1", 300, 100));
        }
        cluster.manager.tick();
        assertEquals(Map.of(), cluster.record(101).reserved());
        long before = cluster.manager.searches();
        cluster.manager.tick();
        assertEquals(before, cluster.manager.searches());
        cluster.pass(3_100);
        cluster.reports(12, 34);
        cluster.leaves(11, 34);
        cluster.manager.tick();
        assertEquals(Map.of(12L, 2), cluster.record(101).reserved());
    }
}
