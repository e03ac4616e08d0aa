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
    /** Servers that end at such intervals do not end together. */
    private static final long OVER_A_MINUTE = 61_000;

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

    /** Twelve spot servers have all ended after an hour, one after the other. */
    private void anHourIsALife() {
        cluster.manager.menu(MENU);
        someLiveAnHour(12, () -> {});
    }

    /** @param meanwhile done when all of them have begun */
    private void someLiveAnHour(int servers, Runnable meanwhile) {
        for (int id = 200; id < 200 + servers; id++) {
            spot(id);
            cluster.pass(OVER_A_MINUTE);
        }
        meanwhile.run();
        cluster.pass(HOUR - servers * OVER_A_MINUTE);
        for (int id = 200; id < 200 + servers; id++) {
            ends(id);
            cluster.pass(OVER_A_MINUTE);
        }
    }

    /**
     * Ten have ended after an hour, and a hundred have not: of that age one in eleven ends, and not all. Twenty others
     * are nearly as old, and two are new.
     */
    private void oneInElevenEndsAfterAnHour() {
        cluster.manager.menu(MENU);
        someLiveAnHour(10, () -> {
            LongStream.rangeClosed(1, 100).forEach(this::spot);
            LongStream.rangeClosed(1, 100).forEach(id -> cluster.allocate(id, 4, DAY_MILLIS));
        });
        cluster.pass(HOUR / 2);
        LongStream.rangeClosed(1, 120).forEach(this::spot);
        LongStream.rangeClosed(101, 120).forEach(id -> cluster.allocate(id, 4, DAY_MILLIS));
        cluster.pass(HOUR - 60_000);
        LongStream.rangeClosed(1, 122).forEach(this::spot);
    }

    private void movesNone() {
        cluster.manager.tick();
        assertTrue(cluster.store.caches.values().stream()
                .allMatch(cache -> cache.reserved().isEmpty()));
    }

    @Test
    void oneInElevenThatHasEndedMovesNoCacheOffTheOthers() {
        oneInElevenEndsAfterAnHour();
        movesNone();
    }

    /** Servers find it within some seconds; those that have not yet live, too. */
    @Test
    void aNewManagerCountsServersThatHaveNotReportedToItYet() {
        oneInElevenEndsAfterAnHour();
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

    /** A rack that is taken says little of the others, though none has lived for longer. */
    @Test
    void serversThatEndTogetherForetellNothing() {
        cluster.manager.menu(MENU);
        LongStream.range(200, 216).forEach(this::spot);
        cluster.pass(60_000);
        spot(1);
        cluster.allocate(7, 4, DAY_MILLIS);
        cluster.pass(HOUR - 60_000);
        LongStream.range(200, 216).forEach(this::ends);
        spot(1);
        spot(2);
        movesNone();
    }

    /** Its client would not give way to a server that leaves. */
    @Test
    void anEarlyMoveThatHasGotADeadlineIsToldAgain() {
        anHourIsALife();
        spot(1);
        cluster.allocate(7, 1, DAY_MILLIS);
        cluster.pass(HOUR - 60_000);
        spot(1);
        spot(2);
        cluster.manager.tick();
        cluster.attends(7L);
        Reclaim early = cluster.alerts.getLast();
        assertEquals(Reclaim.Reason.ENDS_SOON, early.reason());
        ends(1);
        cluster.manager.tick();
        assertEquals(2, cluster.alerts.size());
        Reclaim urgent = cluster.alerts.getLast();
        assertEquals(Reclaim.Reason.LEAVES, urgent.reason());
        assertEquals(early.generation(), urgent.generation());
        assertEquals(early.targets(), urgent.targets());
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
