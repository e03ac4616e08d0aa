package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.MIB;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Clients with thousands of caches that have outlived their time; only the test advances the clock. */
class ExpiryNotifierTest {

    private static final int CACHES = 2_500;
    private static final long LAST = 5_000;
    private static final long MINUTE_MILLIS = 60_000;

    private final TestCluster cluster = new TestCluster(ManagerOptions.DEFAULT);
    private final List<Long> told = new ArrayList<>();
    private final Set<Long> caches = new HashSet<>();

    private void allocate(long id, long lifetimeMillis) {
        cluster.manager.allocate(
                new CacheRequest(id, 99, "cache", MIB, lifetimeMillis, "", List.of(AllocationCandidate.ANY)));
        caches.add(id);
    }

    private final class Told extends Unheard {
        @Override
        public void expiring(long cacheId, long leftMillis) {
            told.add(cacheId);
        }
    }

    private void allocateAll() {
        cluster.reports(1, 2 * CACHES);
        for (int id = 1; id <= CACHES; id++) {
            allocate(id, MINUTE_MILLIS);
        }
    }

    /** Their time ends while a client has them that was notified in time. */
    private void areOver() {
        CacheManager.Attendance first = cluster.manager.attend(99, new Unheard());
        for (int i = 0; i < 7; i++) {
            first.renew(caches);
            cluster.manager.tick();
            cluster.pass(9_000);
        }
    }

    /** A tick looks at a thousand of those that are over, and at once at one whose end comes near. */
    @Test
    void eachIsNotifiedOnceOverEachLineAndThoseThatAreOverDelayNoOther() {
        allocateAll();
        allocate(LAST, MINUTE_MILLIS + 40_000);
        areOver();
        cluster.manager.attend(99, new Told()).renew(caches);
        for (int expected : new int[] {1_000, 2_000, CACHES, CACHES, CACHES}) {
            cluster.manager.tick();
            assertEquals(expected, new HashSet<>(told).size());
        }
        cluster.pass(10_000);
        cluster.manager.tick();
        assertEquals(LAST, told.getLast());
        cluster.manager.tick();
        assertEquals(CACHES + 1, told.size());
    }

    /** Its whole time is shorter than that for which a client is notified before the end. */
    @Test
    void thoseThatAreOverDoNotDelayOneThatEndsSoon() {
        allocateAll();
        allocate(LAST + 1, MINUTE_MILLIS + 20_000);
        areOver();
        cluster.reports(1, 2 * CACHES);
        allocate(LAST, 10_000);
        cluster.manager.attend(99, new Told()).renew(caches);
        cluster.manager.tick();
        assertTrue(told.contains(LAST));
    }

    /** It was to end in ten seconds, and is given an hour before its client is notified. */
    @Test
    void aCacheThatIsGivenMoreTimeIsNotifiedBeforeItsNewEnd() {
        cluster.reports(1, 1);
        allocate(1, 10_000);
        cluster.manager.extend(1, 3_600_000);
        cluster.manager.attend(99, new Told()).renew(caches);
        cluster.manager.tick();
        assertEquals(List.of(), told);
        cluster.pass(3_580_000);
        cluster.manager.tick();
        assertEquals(List.of(1L), told);
    }
}
