package io.farheap.control.lease;

import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.LeaseListener;

/**
 * Keeps a lease alive: a daemon thread renews it every third of its duration, and notifies a listener when it is lost.
 * A renewal that fails is repeated for as long as the lease lasts, and none waits for longer than that. The thread
 * belongs to this lease, or renews all leases that a process has on one server ({@code ControlClient.keep}).
 *
 * <p>The lease is lost if the server refuses to renew it, or if no renewal has succeeded for the lease's duration,
 * counted from the moment at which the last successful one was sent: then the server has taken everything back, or will
 * have by the time it can be reached again. It is also lost if renewing fails for another reason, since no thread
 * renews it then.
 *
 * <p>Thread-safe. The listener is called on threads of its own, never on the keeper's.
 */
public final class LeaseKeeper implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeaseKeeper.class.getName());
    private static final long STOP_MILLIS = 2_000;

    private final LeaseRenewalThread thread;
    private final boolean alone;
    private final RenewedLease kept;

    /**
     * Starts renewing, on a thread of its own.
     *
     * @param lease just opened on {@code plane}
     */
    public LeaseKeeper(ControlPlane plane, Lease lease, LeaseListener listener) {
        this(plane, lease, System.nanoTime(), listener);
    }

    /** The same. @param askedAt {@link System#nanoTime} before the lease was asked for, from which on it counts */
    public LeaseKeeper(ControlPlane plane, Lease lease, long askedAt, LeaseListener listener) {
        this(
                new LeaseRenewalThread(),
                true,
                new RenewedLease(LeaseRenewer.blocking(plane), lease, askedAt, listener, LOG));
    }

    /** Starts renewing, on a thread that may renew other leases: so {@code renewals} must not wait. */
    public LeaseKeeper(LeaseRenewalThread thread, LeaseRenewer renewals, Lease lease, LeaseListener listener) {
        this(thread, renewals, lease, System.nanoTime(), listener);
    }

    /** The same. @param askedAt {@link System#nanoTime} before the lease was asked for, from which on it counts */
    public LeaseKeeper(
            LeaseRenewalThread thread, LeaseRenewer renewals, Lease lease, long askedAt, LeaseListener listener) {
        this(thread, false, new RenewedLease(renewals, lease, askedAt, listener, LOG));
    }

    private LeaseKeeper(LeaseRenewalThread thread, boolean alone, RenewedLease kept) {
        this.thread = thread;
        this.alone = alone;
        this.kept = kept;
        thread.add(kept);
    }

    /** Requests a call of the listener when the lease is renewed the next time. Does not wait. */
    public void tellNextRenewal() {
        kept.tellNextRenewal();
    }

    /**
     * Until when the server keeps the lease for certain if no further renewal succeeds, in {@link System#nanoTime}: its
     * duration after the last successful renewal was sent, less a thousandth, as clocks drift. A process that was
     * stopped in the meantime learns later that the lease is lost.
     */
    public long heldUntil() {
        return kept.heldUntil();
    }

    /** Requests a renewal now, because there is a sign that the lease may be lost. Does not wait. */
    public void renewNow() {
        thread.hasten(kept);
    }

    /**
     * Stops renewing, and does not close the lease. When it returns, the listener is not called any more, unless it is
     * in a call and stays there for {@value #STOP_MILLIS} ms. Idempotent.
     */
    @Override
    public void close() {
        thread.remove(kept);
        kept.close(STOP_MILLIS);
        if (alone) {
            thread.close();
        }
    }
}
