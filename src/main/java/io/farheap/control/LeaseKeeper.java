package io.farheap.control;

import io.farheap.control.ControlException.Code;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a lease alive: one daemon thread renews it every third of its duration, and tells a listener when it is lost. A
 * renewal that fails is repeated, for as long as the lease lasts; it waits for no longer than that.
 *
 * <p>The lease is lost when the server says so, or when no renewal has succeeded for the lease's duration, counted from
 * the moment the last good one was sent: then the server has taken everything back, or will have by the time it can be
 * reached again. It is also lost when the thread fails otherwise, since nobody renews it then.
 */
public final class LeaseKeeper implements AutoCloseable {

    /**
     * Told once, on the keeper's thread, that the lease is lost. The keeper has stopped by then; the listener may close
     * it.
     */
    public interface Listener {

        /**
         * @param lease the one that is lost
         * @param cause the server's refusal, or the last failure to reach it
         */
        void leaseLost(Lease lease, ControlException cause);

        /** The lease was renewed just now; the next renewal waits for this to return. */
        default void renewed(Lease lease) {}
    }

    private static final System.Logger LOG = System.getLogger(LeaseKeeper.class.getName());
    private static final long STOP_MILLIS = 2_000;
    /** At least between the beginnings of two renewals of which the first failed. */
    private static final long RETRY_NANOS = 100_000_000L;

    private final ControlPlane plane;
    private final Lease lease;
    private final Listener listener;
    private final Thread thread;
    private volatile boolean closed;
    private long renewedAt;

    /**
     * Starts renewing.
     *
     * @param lease just opened on {@code plane}
     */
    public LeaseKeeper(ControlPlane plane, Lease lease, Listener listener) {
        this.plane = plane;
        this.lease = lease;
        this.listener = listener;
        renewedAt = System.nanoTime();
        thread = EventLoop.daemon(this::run, "farheap-lease-keeper");
        thread.start();
    }

    /**
     * Stops renewing, and does not close the lease. When it returns, the listener will not be called any more.
     * Idempotent.
     */
    @Override
    public void close() {
        closed = true;
        if (Thread.currentThread() == thread) {
            return;
        }
        thread.interrupt();
        try {
            thread.join(STOP_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        ControlException lost;
        try {
            lost = keep();
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "the lease is not kept any more, and so it is lost", e);
            lost = new ControlException(Code.INTERNAL, "the lease cannot be renewed: " + e, e);
        }
        if (lost != null && !closed) {
            tellLost(lost);
        }
    }

    private void tellLost(ControlException lost) {
        try {
            listener.leaseLost(lease, lost);
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "the lease is lost, and whoever was told so failed", e);
        }
    }

    /** Why the lease is lost; null where it is not, and renewing is to stop. */
    private @Nullable ControlException keep() {
        long duration = lease.durationNanos();
        long usualPause = duration / 3;
        long retryPause = Math.min(RETRY_NANOS, usualPause);
        long pause = usualPause;
        ControlException failed = null;
        while (true) {
            if (pause > 0) {
                LockSupport.parkNanos(this, pause);
            }
            if (closed) {
                return null;
            }
            long sentAt = System.nanoTime();
            long left = duration - (sentAt - renewedAt);
            if (left <= 0 && failed != null) {
                return failed;
            }
            try {
                // A keeper that has slept through the lease asks all the same: so may the server have done.
                plane.renewLease(lease.id(), left > 0 ? left : usualPause);
                renewedAt = sentAt;
                failed = null;
                pause = usualPause;
                listener.renewed(lease);
            } catch (ControlException e) {
                long now = System.nanoTime();
                if (e.code() == Code.LEASE_EXPIRED || now - renewedAt >= duration) {
                    return e;
                }
                // One that has waited for an answer is repeated at once, one that failed at once not in a loop.
                failed = e;
                pause = Math.min(retryPause - (now - sentAt), duration - (now - renewedAt));
            }
        }
    }
}
