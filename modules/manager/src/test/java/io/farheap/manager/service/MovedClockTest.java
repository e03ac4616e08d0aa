package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException.Code;
import io.farheap.manager.CacheManager;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The time of day is set while caches have hours left, or none. */
class MovedClockTest {

    private static final long HOUR_MILLIS = 3_600_000;

    private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT, 1);

    @BeforeEach
    void aCacheHasTwoHours() {
        cluster.reports(1, 4);
        cluster.allocate(7, 4, 2 * HOUR_MILLIS);
        pass(10);
    }

    private void pass(int seconds) {
        for (int i = 0; i < seconds; i += 10) {
            cluster.pass(10_000);
            cluster.reports(1, 4);
            if (cluster.store.servers.containsKey(2L)) {
                cluster.reports(2, 4);
            }
            cluster.attends(7L, 8L);
            cluster.manager.tick();
        }
    }

    private void refusesRoom() {
        refusal(Code.OUT_OF_MEMORY, () -> cluster.allocate(9, 1, 0));
        assertEquals(List.of(), cluster.ends);
    }

    private void endsOne() {
        refusal(Code.BUSY, () -> cluster.allocate(9, 1, 0));
        assertEquals(1, cluster.ends.size());
    }

    @Test
    void aJumpAheadEndsNoCacheThatHasTimeLeft() {
        cluster.time += 3 * HOUR_MILLIS;
        pass(60);
        assertEquals(1, cluster.manager.clockJumps());
        refusesRoom();
        // Its own two hours have passed.
        pass(7_200);
        endsOne();
    }

    /** Its clock is ahead, and it does not know that: the client needs some time to say what is left. */
    @Test
    void aManagerThatHasNotSetAnEndWaitsForHalfAMinuteAfterItsNotice() {
        cluster.time += 2 * HOUR_MILLIS - 12_000;
        cluster.lead();
        cluster.reports(1, 4);
        cluster.attends(7L);
        cluster.manager.tick();
        pass(10);
        refusesRoom();
        pass(20);
        endsOne();
    }

    /** The end that could not be written had the time that is wrong now, and the one before has not. */
    @Test
    void anExtensionThatCannotBeWrittenChangesNothing() {
        cluster.time += 3 * HOUR_MILLIS;
        pass(10);
        cluster.store.failing = true;
        refusal(Code.INTERNAL, () -> cluster.manager.extend(7, 2 * HOUR_MILLIS));
        cluster.store.failing = false;
        pass(60);
        refusesRoom();
    }

    @Test
    void roomIsMadeForACacheWithTimeLeftOnALeavingServer() {
        cluster.reports(2, 4);
        cluster.allocate(8, 4, 60_000);
        pass(90);
        cluster.time += 3 * HOUR_MILLIS;
        pass(10);
        cluster.leaves(1, 4);
        cluster.manager.tick();
        assertTrue(cluster.record(8).ended());
        assertFalse(cluster.record(7).ended());
    }

    @Test
    void itsClientHearsOfItsOwnEndInTimeAndOnce() {
        List<Long> left = new ArrayList<>();
        CacheManager.Attendance line = cluster.manager.attend(99, new Unheard() {
            @Override
            public void expiring(long cacheId, long leftMillis) {
                left.add(leftMillis);
            }
        });
        cluster.time += 3 * HOUR_MILLIS;
        for (int seconds = 10; seconds < 7_260; seconds += 10) {
            cluster.pass(10_000);
            line.renew(Set.of(7L));
            cluster.manager.tick();
            assertEquals(seconds < 7_160 ? List.of() : List.of(30_000L), left, () -> "after " + cluster.time);
        }
        assertEquals(1, cluster.manager.describe(7).leftMillis());
    }

    @Test
    void aJumpAheadAndBackChangesNothing() {
        cluster.time += 3 * HOUR_MILLIS;
        pass(60);
        cluster.time -= 3 * HOUR_MILLIS;
        pass(60);
        assertEquals(2, cluster.manager.clockJumps());
        refusesRoom();
        pass(7_200);
        endsOne();
    }

    /** The clock was corrected: what is allocated by the right time ends by it. */
    @Test
    void aCacheWhoseEndIsSetAfterwardsEndsInTime() {
        cluster.time += 3 * HOUR_MILLIS;
        pass(10);
        cluster.manager.extend(7, 60_000);
        pass(50);
        refusesRoom();
        pass(20);
        endsOne();
    }

    @Test
    void aSlowCorrectionIsNoJump() {
        for (int i = 0; i < 10; i++) {
            cluster.time += 900;
            pass(10);
        }
        assertEquals(0, cluster.manager.clockJumps());
        cluster.time += 1_100;
        pass(10);
        assertEquals(1, cluster.manager.clockJumps());
    }

    /** It follows the clock: that ends no cache too early. */
    @Test
    void aCacheEndsLaterIfTheClockIsSetBack() {
        cluster.time -= HOUR_MILLIS;
        pass(7_200);
        refusesRoom();
        pass(3_600);
        endsOne();
        assertTrue(cluster.record(7).ended());
    }
}
