package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.DAY_MILLIS;
import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.share;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.Reclaim;
import io.farheap.manager.RegionShare;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What a manager concludes from the lives of spot servers; only the tests advance the clock. */
class SpotLivesTest {

    private static final long HOUR = 3_600_000;
    private static final String MENU = """
            {"types": [{"name": "t", "cores": 4, "memory": "4m", "price": 2, "spot_price": 0.1}]}""";

    private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT);

    private void spot(long id) {
        cluster.manager.report(TestCluster.server(id, "t", true, 4, cluster.held(id)));
    }

    private void ends(long id) {
        cluster.manager.report(
                TestCluster.server(id, "t", true, 4, cluster.held(id)).leavingWithin(30_000));
    }

    /** Twelve spot servers have all ended after an hour. */
    private void anHourIsALife() {
        cluster.manager.menu(MENU);
        for (int id = 100; id < 112; id++) {
            spot(id);
        }
        cluster.pass(HOUR);
        for (int id = 100; id < 112; id++) {
            ends(id);
        }
    }

    /**
     * Ten of a hundred have ended after an hour, and ninety have not: of that age one in ten ends, and not all. Twenty
     * others, with caches, are nearly as old, and two are new.
     */
    private void oneInTenEndsAfterAnHour() {
        cluster.manager.menu(MENU);
        LongStream.rangeClosed(1, 100).forEach(this::spot);
        LongStream.rangeClosed(1, 90).forEach(id -> cluster.allocate(id, 4, DAY_MILLIS));
        List<Long> empty = LongStream.rangeClosed(1, 100)
                .filter(id -> cluster.held(id).isEmpty())
                .boxed()
                .toList();
        assertEquals(10, empty.size());
        cluster.pass(HOUR);
        empty.forEach(this::ends);
        cluster.pass(HOUR / 2);
        LongStream.rangeClosed(1, 120).filter(id -> !empty.contains(id)).forEach(this::spot);
        LongStream.rangeClosed(101, 120).forEach(id -> cluster.allocate(id, 4, DAY_MILLIS));
        cluster.pass(HOUR - 60_000);
        LongStream.rangeClosed(1, 122).filter(id -> !empty.contains(id)).forEach(this::spot);
    }

    private void movesNone() {
        cluster.manager.tick();
        assertTrue(cluster.store.caches.values().stream()
                .allMatch(cache -> cache.reserved().isEmpty()));
    }

    @Test
    void oneInTenThatHasEndedMovesNoCacheOffTheOthers() {
        oneInTenEndsAfterAnHour();
        movesNone();
    }

    /** Servers find it within some seconds; those that have not yet live, too. */
    @Test
    void aNewManagerCountsServersThatHaveNotReportedToItYet() {
        oneInTenEndsAfterAnHour();
        movesNone();
        cluster.lead();
        LongStream.of(101, 102, 103, 121, 122).forEach(this::spot);
        cluster.pass(1_000);
        movesNone();
    }

    @Test
    void aCacheIsPlacedAndGrowsOnServersThatLastIfTheyHaveRoom() {
        anHourIsALife();
        spot(1);
        cluster.allocate(7, 1, DAY_MILLIS);
        cluster.pass(HOUR - 60_000);
        spot(1);
        spot(2);
        cluster.manager.tick();
        cluster.attends(7L);
        assertEquals(Reclaim.Reason.ENDS_SOON, cluster.alerts.getLast().reason());
        cluster.manager.moved(7, cluster.generation(7), MIB, List.of(share(2, 1)));
        assertEquals(List.of(share(2, 3)), placed(8, 3));
        spot(3);
        assertEquals(
                List.of(share(3, 1)), cluster.manager.reallocate(8, 4 * MIB).reserved());
        assertEquals(List.of(share(3, 1)), placed(9, 1));
        assertEquals(List.of(share(1, 3)), placed(10, 3), "no other server has that room");
    }

    private List<RegionShare> placed(long id, int regions) {
        return cluster.allocate(id, regions, DAY_MILLIS).shares();
    }

    /** It would try every cache of every such server in every tick. */
    @Test
    void aCacheThatFindsNoRoomToLeaveEarlyIsTriedAgainLater() {
        anHourIsALife();
        spot(1);
        cluster.allocate(7, 4, DAY_MILLIS);
        cluster.pass(HOUR - 100_000);
        spot(1);
        cluster.manager.tick();
        cluster.attends(7L);
        spot(2);
        cluster.manager.tick();
        assertEquals(List.of(), cluster.alerts);
        for (int i = 0; i < 11; i++) {
            cluster.pass(1_000);
            spot(1);
            spot(2);
            cluster.manager.tick();
        }
        assertEquals(Reclaim.Reason.ENDS_SOON, cluster.alerts.getLast().reason());
    }

    @Test
    void aServerThatLeavesSendsItsCachesToThoseThatLast() {
        anHourIsALife();
        spot(1);
        cluster.pass(HOUR - 60_000);
        cluster.reports(3, 1);
        cluster.allocate(7, 1, 0);
        spot(1);
        cluster.manager.report(TestCluster.server(2, "t", true, 8, Map.of()));
        cluster.manager.tick();
        cluster.attends(7L);
        cluster.manager.extend(7, DAY_MILLIS);
        cluster.leaves(3, 1);
        assertEquals(List.of(share(2, 1)), cluster.alerts.getLast().targets());
    }
}
