package io.farheap.control;

import io.farheap.control.ControlException.Code;

import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a lease alive: one daemon thread renews it every third of its duration, and tells a listener when it is lost.
 *
 * <p>The lease is lost when the server says so, or when no renewal has succeeded for the lease's duration, counted from the moment the last
 * good one was sent: then the server has taken everything back, or will have by the time it can be reached again.
 */
public final class LeaseKeeper implements AutoCloseable {

    /** Told once, on the keeper's thread, that the lease is lost. The keeper has stopped by then; the listener may close it. */
    public interface Listener {

        /**
         * @param lease the one that is lost
         * @param cause the server's refusal, or the last failure to reach it
         */
        void leaseLost(Lease lease, ControlException cause);
    }

    private static final long STOP_MILLIS = 2_000;

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

    /** Stops renewing, and does not close the lease. When it returns, the listener will not be called any more. Idempotent. */
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
        long pause = lease.durationNanos() / 3;
        ControlException lost = null;
        while (lost == null && !closed) {
            LockSupport.parkNanos(this, pause);
            if (!closed) {
                lost = renew();
            }
        }
        if (lost != null && !closed) {
            listener.leaseLost(lease, lost);
        }
    }

    /** Why the lease is lost; null where it is alive, as far as we know. */
    private ControlException renew() {
        long sentAt = System.nanoTime();
        try {
            plane.renewLease(lease.id());
            renewedAt = sentAt;
            return null;
        } catch (ControlException e) {
            boolean expired = e.code() == Code.LEASE_EXPIRED || System.nanoTime() - renewedAt >= lease.durationNanos();
            return expired ? e : null;
        } catch (RuntimeException e) {
            return new ControlException(Code.INTERNAL, "the lease cannot be renewed: " + e, e);
        }
    }
}
