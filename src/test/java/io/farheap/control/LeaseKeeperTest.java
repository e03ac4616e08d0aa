package io.farheap.control;

import io.farheap.control.ControlException.Code;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

@Timeout(30)
class LeaseKeeperTest {

    private static final Lease LEASE = new Lease(11, 300_000_000L);

    private final InMemoryPlane plane = new InMemoryPlane();
    private final BlockingQueue<ControlException> losses = new LinkedBlockingQueue<>();

    private LeaseKeeper keep() {
        return new LeaseKeeper(plane, LEASE, (lease, cause) -> losses.add(cause));
    }

    @Test
    void renewsThreeTimesPerDuration() throws Exception {
        try (LeaseKeeper _ = keep()) {
            Thread.sleep(1000);
        }
        int renewals = plane.calls.size();
        assertTrue(renewals >= 4 && renewals <= 10, "renewals in 1 s of a lease of 300 ms: " + renewals);
        assertTrue(losses.isEmpty());
        Thread.sleep(300);
        assertEquals(renewals, plane.calls.size(), "renewals go on after close");
    }

    @Test
    void anExpiredLeaseIsReportedOnceAndAtOnce() throws Exception {
        plane.failWith = new ControlException(Code.LEASE_EXPIRED, "gone");
        try (LeaseKeeper _ = keep()) {
            ControlException cause = losses.poll(5, TimeUnit.SECONDS);
            assertNotNull(cause);
            assertEquals(Code.LEASE_EXPIRED, cause.code());
            assertNull(losses.poll(500, TimeUnit.MILLISECONDS));
            assertEquals(1, plane.calls.size());
        }
    }

    @Test
    void anUnreachableServerLosesTheLeaseAfterItsDuration() throws Exception {
        plane.failWith = new ControlException(Code.UNAVAILABLE, "no route");
        long start = System.nanoTime();
        try (LeaseKeeper _ = keep()) {
            ControlException cause = losses.poll(5, TimeUnit.SECONDS);
            assertNotNull(cause);
            assertEquals(Code.UNAVAILABLE, cause.code());
            assertTrue(System.nanoTime() - start >= LEASE.durationNanos(), "given up too early");
        }
    }

    @Test
    void aShortAbsenceOfTheServerIsBridged() throws Exception {
        plane.failWith = new ControlException(Code.UNAVAILABLE, "blip");
        try (LeaseKeeper _ = keep()) {
            while (plane.calls.isEmpty()) {
                Thread.sleep(5);
            }
            plane.failWith = null;
            assertNull(losses.poll(700, TimeUnit.MILLISECONDS));
        }
    }

    @Test
    void theListenerMayCloseTheKeeper() throws Exception {
        plane.failWith = new ControlException(Code.LEASE_EXPIRED, "gone");
        BlockingQueue<LeaseKeeper> handle = new LinkedBlockingQueue<>();
        LeaseKeeper keeper = new LeaseKeeper(plane, LEASE, (lease, cause) -> {
            try {
                handle.take().close();
            } catch (InterruptedException e) {
                return;
            }
            losses.add(cause);
        });
        handle.add(keeper);
        assertNotNull(losses.poll(5, TimeUnit.SECONDS));
    }
}
