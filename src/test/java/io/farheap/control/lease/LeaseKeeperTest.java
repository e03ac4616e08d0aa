package io.farheap.control.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.grpc.InMemoryPlane;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.testing.TestDevice;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Filter;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;

class LeaseKeeperTest {

    private static final Lease LEASE = new Lease(11, 300_000_000L);

    private final InMemoryPlane plane = new InMemoryPlane();
    private final BlockingQueue<ControlException> losses = new LinkedBlockingQueue<>();

    private LeaseKeeper keep() {
        return new LeaseKeeper(plane, LEASE, (lease, cause) -> losses.add(cause));
    }

    @Test
    void renewsThreeTimesPerDuration() throws Exception {
        long start = System.nanoTime();
        try (LeaseKeeper _ = keep()) {
            while (plane.calls.size() < 6) {
                Thread.sleep(10);
            }
        }
        // The machine may be slow, and the keeper late, but never early.
        long nanos = System.nanoTime() - start;
        int renewals = plane.calls.size();
        assertTrue(
                renewals <= 3 * nanos / LEASE.durationNanos(),
                renewals + " renewals of a lease of 300 ms in " + nanos + " ns");
        assertTrue(losses.isEmpty());
        Thread.sleep(300);
        assertEquals(renewals, plane.calls.size(), "renewals go on after close");
    }

    @Test
    void aLeaseThatIsDoubtedIsRenewedAtOnce() throws Exception {
        // Without renewNow the lease would be renewed in 20 minutes.
        Lease lease = new Lease(11, 3_600_000_000_000L);
        try (LeaseKeeper keeper = new LeaseKeeper(plane, lease, (_, cause) -> losses.add(cause))) {
            keeper.renewNow();
            while (plane.calls.isEmpty()) {
                Thread.sleep(10);
            }
            assertTrue(losses.isEmpty());
            plane.failWith = new ControlException(Code.LEASE_EXPIRED, "gone");
            keeper.renewNow();
            assertNotNull(losses.poll(60, TimeUnit.SECONDS));
            // There is nothing left to renew.
            keeper.renewNow();
        }
        assertEquals(2, plane.calls.size());
    }

    @Test
    void anExpiredLeaseIsReportedOnceAndAtOnce() throws Exception {
        plane.failWith = new ControlException(Code.LEASE_EXPIRED, "gone");
        try (LeaseKeeper _ = keep()) {
            ControlException cause = losses.poll(60, TimeUnit.SECONDS);
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
            ControlException cause = losses.poll(60, TimeUnit.SECONDS);
            assertNotNull(cause);
            assertEquals(Code.UNAVAILABLE, cause.code());
            assertTrue(System.nanoTime() - start >= LEASE.durationNanos(), "given up too early");
        }
    }

    @Test
    void aShortAbsenceOfTheServerIsBridged() throws Exception {
        // Long enough that this thread runs before the lease ends.
        Lease lease = new Lease(11, 9_000_000_000L);
        plane.failWith = new ControlException(Code.UNAVAILABLE, "blip");
        try (LeaseKeeper _ = new LeaseKeeper(plane, lease, (lost, cause) -> losses.add(cause))) {
            while (plane.calls.isEmpty()) {
                Thread.sleep(5);
            }
            plane.failWith = null;
            int failed = plane.calls.size();
            while (plane.calls.size() == failed) {
                assertNull(losses.poll(100, TimeUnit.MILLISECONDS));
            }
            assertNull(losses.poll(100, TimeUnit.MILLISECONDS));
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
        assertNotNull(losses.poll(60, TimeUnit.SECONDS));
    }

    /** A plane whose renewals take a while and then fail, as those of a server that does not answer do. */
    private static ControlPlane silent(List<Long> waits) {
        Class<?>[] plane = {ControlPlane.class};
        return (ControlPlane)
                Proxy.newProxyInstance(ControlPlane.class.getClassLoader(), plane, (proxy, method, arguments) -> {
                    waits.add(arguments.length == 2 ? (Long) arguments[1] : Long.MAX_VALUE);
                    Thread.sleep(20);
                    throw new ControlException(Code.DEADLINE_EXCEEDED, "no answer");
                });
    }

    @Test
    void aRenewalThatTimedOutIsRepeatedForAsLongAsTheLeaseLasts() throws Exception {
        Lease lease = new Lease(11, 6_000_000_000L);
        List<Long> waits = new CopyOnWriteArrayList<>();
        try (LeaseKeeper _ = new LeaseKeeper(silent(waits), lease, (lost, cause) -> losses.add(cause))) {
            assertEquals(
                    Code.DEADLINE_EXCEEDED, losses.poll(30, TimeUnit.SECONDS).code());
        }
        // With a pause of a third of the lease before each renewal there would be three.
        assertTrue(waits.size() > 4, "renewals: " + waits.size());
        for (long wait : waits) {
            assertTrue(wait > 0 && wait < lease.durationNanos(), "a renewal waits " + wait + " ns");
        }
        assertTrue(waits.getLast() < waits.getFirst(), waits::toString);
    }

    @Test
    void failuresAtOnceDoNotMakeItSpin() throws Exception {
        plane.failWith = new ControlException(Code.DEADLINE_EXCEEDED, "a server that says so at once");
        try (LeaseKeeper _ = keep()) {
            assertNotNull(losses.poll(20, TimeUnit.SECONDS));
        }
        assertTrue(plane.calls.size() <= 10, "renewals: " + plane.calls.size());
    }

    @Test
    void anErrorLosesTheLeaseLoudly() throws Exception {
        BlockingQueue<LogRecord> logged = new LinkedBlockingQueue<>();
        Logger log = Logger.getLogger(LeaseKeeper.class.getName());
        Filter filter = record -> {
            logged.add(record);
            return false;
        };
        log.setFilter(filter);
        try {
            plane.failWith = new LinkageError("injected");
            try (LeaseKeeper _ = keep()) {
                ControlException cause = losses.poll(20, TimeUnit.SECONDS);
                assertNotNull(cause, "the keeper died without a word");
                assertEquals(Code.INTERNAL, cause.code());
                assertEquals(plane.failWith, cause.getCause());
            }
            assertEquals(plane.failWith, logged.poll(20, TimeUnit.SECONDS).getThrown());
        } finally {
            log.setFilter(null);
        }
    }

    @Test
    void aServerThatHangsLosesAShortLeaseInTimeAndHoldsUpNoOther() throws Exception {
        InMemoryPlane lively = new InMemoryPlane();
        plane.hanging = Set.of("renewLease");
        try (ControlServer hung = ControlServer.start("127.0.0.1:0", plane);
                ControlServer well = ControlServer.start("127.0.0.1:0", lively);
                ControlClient toHung = ControlClient.connect(hung.address());
                ControlClient toWell = ControlClient.connect(well.address());
                LeaseKeeper _ = new LeaseKeeper(toHung, LEASE, (lease, cause) -> losses.add(cause));
                LeaseKeeper _ = new LeaseKeeper(
                        toWell,
                        new Lease(12, TestDevice.patience(3_000_000_000L)),
                        (lease, cause) -> losses.add(cause))) {
            ControlException cause = losses.poll(20, TimeUnit.SECONDS);
            assertNotNull(cause);
            assertTrue(cause.getMessage().contains("has not answered within"), cause.getMessage());
            int millis = Integer.parseInt(cause.getMessage().replaceAll(".*within (\\d+) ms.*", "$1"));
            assertTrue(millis < 300, "a renewal of a lease of 300 ms waited " + millis + " ms");
            while (lively.count("renewLease") == 0) {
                assertNull(losses.poll(100, TimeUnit.MILLISECONDS));
            }
            plane.mayGoOn.countDown();
        }
    }
}
