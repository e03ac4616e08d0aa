package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.SECOND;
import static io.farheap.manager.service.TestCluster.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException.Code;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Caches on servers that leave find no room, and more than a thousand have outlived their time on a spot server, which
 * caches without an end cannot use; only the tests advance the clock.
 */
class ManyExpiredCachesTest {

    private static final int SPOT = 1_100;

    private final TestCluster cluster =
            new TestCluster(new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, Supply.DEFAULT), 1);

    private void reportsSpot() {
        cluster.manager.report(TestCluster.server(1, "t", true, SPOT, cluster.held(1)));
    }

    /**
     * Fills the spot server, and lets the time of its caches end.
     *
     * @param regions of server 11, which reports again
     * @param others further caches of the client
     */
    private void expire(int regions, Long... others) {
        List<Long> ids = new ArrayList<>(List.of(others));
        reportsSpot();
        for (long cache = 0; cache < SPOT; cache++) {
            cluster.allocate(10_000 + 2 * cache, 1, 20_000);
            ids.add(10_000 + 2 * cache);
        }
        cluster.attends(ids.toArray(Long[]::new));
        reportsSpot();
        for (int tick = 0; tick < 3; tick++) {
            cluster.manager.tick();
        }
        cluster.pass(21_000);
        reportsSpot();
        cluster.reports(11, regions);
    }

    /** Sixty caches have all of server 11, with so many regions each. */
    private void sixtyHave(int regions) {
        cluster.reports(11, 60 * regions);
        for (int id = 101; id <= 160; id++) {
            cluster.allocate(id, regions, 0);
        }
    }

    /** Sixty are searched for in vain before it is. */
    @Test
    void aCacheGetsItsRoomHoweverLongOthersLookAtExpiredCaches() {
        sixtyHave(8);
        cluster.allocateOn(12, 7, 1);
        expire(480);
        cluster.reports(12, 1);
        cluster.reports(13, 1);
        cluster.leaves(11, 480, 10_000);
        cluster.leaves(12, 1, 13_000);
        cluster.manager.tick();
        assertEquals(Map.of(13L, 1), cluster.record(7).reserved());
        assertEquals(List.of(), cluster.ends);
    }

    /** Some of sixty still wait for a look at expired caches when room becomes free, and another server ends first. */
    @Test
    void freeRoomIsForTheServerThatEndsFirst() {
        sixtyHave(4);
        cluster.allocateOn(12, 7, 4);
        expire(240);
        cluster.reports(12, 4);
        cluster.leaves(11, 240, 25_000);
        cluster.manager.tick();
        cluster.reports(13, 4);
        cluster.leaves(12, 4, 3_000);
        assertEquals(Map.of(13L, 4), cluster.record(7).reserved());
    }

    /** Two expired caches together are enough for it, and one for the server that ends later. */
    @Test
    void aCacheThatWaitsForALookGetsItForTheServerThatEndsFirst() {
        sixtyHave(9);
        cluster.reports(12, 8);
        cluster.reports(14, 4);
        cluster.allocate(7, 12, 0);
        cluster.reports(13, 8);
        cluster.allocate(5, 4, 19_000);
        cluster.allocate(6, 4, 19_500);
        expire(540, 5L, 6L);
        cluster.reports(12, 8);
        cluster.reports(13, 8);
        cluster.reports(14, 4);
        cluster.leaves(11, 540, 10_000);
        cluster.leaves(12, 8, 13_000);
        cluster.leaves(14, 4, 20_000);
        cluster.pass(500);
        tickUntilOneEnds();
        assertEquals(Set.of(5L, 6L), new TreeSet<>(cluster.ends));
    }

    /** It was to move to two servers, of which one leaves, too. */
    @Test
    void aLaterLookCountsRoomThatIsReservedForTheCache() {
        sixtyHave(9);
        cluster.allocateOn(12, 7, 6);
        cluster.reports(15, 3);
        cluster.allocate(5, 3, 19_000);
        cluster.reports(15, 3);
        cluster.reports(16, 3);
        cluster.allocate(6, 3, 19_500);
        expire(540, 5L, 6L);
        cluster.reports(15, 3);
        cluster.reports(16, 3);
        cluster.reports(13, 3);
        cluster.reports(14, 3);
        cluster.leaves(12, 6, 20_000);
        assertEquals(Map.of(13L, 3, 14L, 3), cluster.record(7).reserved());
        cluster.leaves(11, 540, 10_000);
        cluster.leaves(13, 3, 15_000);
        tickUntilOneEnds();
        assertEquals(List.of(5L), cluster.ends);
    }

    /** It was to leave one server, and another one that ends first gives notice before its client has heard of that. */
    @Test
    void aLaterLookCountsRoomOfAMoveThatIsGivenUp() {
        sixtyHave(9);
        cluster.reports(12, 3);
        cluster.reports(14, 6);
        cluster.allocate(7, 9, 0);
        cluster.reports(15, 3);
        cluster.allocate(5, 3, 19_000);
        cluster.reports(15, 3);
        cluster.reports(16, 3);
        cluster.allocate(6, 3, 19_500);
        expire(540, 5L, 6L);
        cluster.reports(14, 6);
        cluster.reports(15, 3);
        cluster.reports(16, 3);
        cluster.reports(13, 3);
        cluster.leaves(12, 3, 40_000);
        assertEquals(Map.of(13L, 3), cluster.record(7).reserved());
        cluster.leaves(11, 540, 10_000);
        cluster.leaves(14, 6, 15_000);
        tickUntilOneEnds();
        assertEquals(List.of(5L), cluster.ends);
    }

    private void tickUntilOneEnds() {
        for (int tick = 0; tick < 20 && cluster.ends.isEmpty(); tick++) {
            cluster.manager.tick();
        }
    }

    /** All others would have to wait for it. */
    @Test
    void aCallLeavesLooksAtExpiredCachesToTheNextTick() {
        sixtyHave(4);
        expire(240);
        cluster.leaves(11, 240, 25_000);
        cluster.reports(13, 1);
        long before = cluster.manager.looks();
        refusal(Code.BUSY, () -> cluster.allocate(8, 1, 0));
        assertEquals(before, cluster.manager.looks());
        cluster.manager.tick();
        assertTrue(cluster.manager.looks() > before);
    }

    /** Cache 7 has all of server 11, and cache 6, which ends last, all of server 12. */
    private void expireBeforeAnother() {
        cluster.allocateOn(11, 7, 1);
        cluster.reports(12, 1);
        cluster.allocate(6, 1, 20_500);
        cluster.reports(12, 1);
        expire(1, 6L);
        cluster.reports(12, 1);
    }

    @Test
    void aNewCacheGetsTheRoomOfAnExpiredOneBehindOthers() {
        expireBeforeAnother();
        refusal(Code.BUSY, () -> cluster.allocate(8, 1, 0));
        assertEquals(List.of(6L), cluster.ends);
    }

    /** More than a thousand caches that ended before it are of no use. */
    @Test
    void theExpiredCacheThatIsOfUseIsFoundBehindOthers() {
        expireBeforeAnother();
        leaves(1);
        assertEquals(List.of(6L), cluster.ends);
    }

    /** Server 11 leaves, and ticks look at expired caches for two seconds. */
    private void leaves(int regions) {
        cluster.leaves(11, regions);
        for (int tick = 0; tick < 5; tick++) {
            cluster.pass(500);
            cluster.manager.tick();
        }
    }

    /** One of the two is among the first thousand that are looked at together, and the other one is not. */
    @Test
    void twoExpiredCachesThatAreEnoughTogetherAreFoundOnBothSidesOfALimit() {
        cluster.allocateOn(11, 7, 2);
        cluster.reports(12, 1);
        cluster.allocate(12_001, 1, 20_000);
        cluster.reports(12, 1);
        cluster.reports(13, 1);
        cluster.allocate(6, 1, 20_500);
        cluster.reports(13, 1);
        expire(2, 6L, 12_001L);
        cluster.reports(12, 1);
        cluster.reports(13, 1);
        leaves(2);
        assertEquals(Set.of(6L, 12_001L), new TreeSet<>(cluster.ends));
    }

    /** Each has one of a hundred regions that are needed. */
    @Test
    void aHundredCachesAreEndedAfterAFewThousandLooks() {
        cluster.allocateOn(11, 7, 100);
        cluster.reports(12, 100);
        Long[] others = new Long[100];
        for (int cache = 0; cache < others.length; cache++) {
            others[cache] = 101L + cache;
            cluster.allocate(others[cache], 1, 20_500);
        }
        expire(100, others);
        cluster.reports(12, 100);
        long before = cluster.manager.looks();
        leaves(100);
        assertEquals(Set.of(others), new TreeSet<>(cluster.ends));
        long looks = cluster.manager.looks() - before;
        assertTrue(looks <= 15_000, () -> looks + " looks");
    }

    /**
     * Four hundred are being ended for another cache, and those that expired first have cheaper room, but too little.
     */
    @Test
    void noMoreThanIsNeededAreEndedWhileHundredsAreBeingEnded() {
        cluster.manager.menu("""
                {"types": [{"name": "t", "cores": 4, "memory": "16m", "price": 2},
                           {"name": "cheap", "cores": 4, "memory": "16m", "price": 0.1}]}""");
        cluster.allocateOn(11, 7, 100);
        cluster.allocateOn(12, 8, 400);
        Set<Long> ended = new TreeSet<>();
        cluster.reports(13, 400);
        for (long cache = 1_001; cache <= 1_400; cache++) {
            cluster.allocate(cache, 1, 20_000);
            ended.add(cache);
        }
        Set<Long> all = new TreeSet<>(ended);
        reportsCheap();
        for (long cache = 2_001; cache <= 2_050; cache++) {
            cluster.allocate(cache, 1, 20_100);
            all.add(cache);
        }
        cluster.reports(15, 100);
        cluster.allocate(6, 100, 20_200);
        all.add(6L);
        cluster.attends(all.toArray(Long[]::new));
        for (int tick = 0; tick < 3; tick++) {
            cluster.manager.tick();
        }
        cluster.pass(21_000);
        cluster.reports(13, 400);
        reportsCheap();
        cluster.reports(15, 100);
        cluster.leaves(12, 400);
        cluster.manager.tick();
        assertEquals(ended, new TreeSet<>(cluster.ends));
        cluster.leaves(11, 100);
        cluster.manager.tick();
        ended.add(6L);
        assertEquals(ended, new TreeSet<>(cluster.ends));
    }

    private void reportsCheap() {
        cluster.manager.report(TestCluster.server(14, "cheap", false, 50, cluster.held(14)));
    }

    /** Its second look comes later, as that of one of hundreds does. */
    @Test
    void aCacheThatHasToWaitForItsNextLookContinuesBehindThoseOfTheFirst() {
        expireBeforeAnother();
        cluster.leaves(11, 1, 120_000);
        cluster.pass(41_000);
        reportsSpot();
        cluster.reports(12, 1);
        cluster.leaves(11, 1, 79_000);
        cluster.manager.tick();
        assertEquals(List.of(6L), cluster.ends);
    }
}
