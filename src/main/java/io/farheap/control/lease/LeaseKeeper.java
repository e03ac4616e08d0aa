package io.farheap.control.lease;

import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.LeaseListener;

/**
 * Keeps a lease alive: a daemon thread renews it every third of its duration, and a listener is told when it is lost. A
 * renewal that fails is repeated, for as long as the lease lasts; it waits for no longer than that. The thread is the
 * lease's own, or renews all leases that a process has on one server ({@code ControlClient.keep}).
 *
 * <p>The lease is lost when the server says so, or when no renewal has succeeded for the lease's duration, counted from
 * the moment the last good one was sent: then the server has taken everything back, or will have by the time it can be
 * reached again. It is also lost when renewing fails otherwise, since nobody renews it then.
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
        this(new LeaseRenewalThread(), true, new RenewedLease(LeaseRenewer.blocking(plane), lease, listener, LOG));
    }

    /** Starts renewing, on a thread that may have other leases: so {@code renewals} must not wait for anything. */
    public LeaseKeeper(LeaseRenewalThread thread, LeaseRenewer renewals, Lease lease, LeaseListener listener) {
        this(thread, false, new RenewedLease(renewals, lease, listener, LOG));
    }

    private LeaseKeeper(LeaseRenewalThread thread, boolean alone, RenewedLease kept) {
        this.thread = thread;
        this.alone = alone;
        this.kept = kept;
        thread.add(kept);
    }

    /** The listener is to be told once the lease is renewed the next time. Does not wait. */
    public void tellNextRenewal() {
        kept.tellNextRenewal();
    }

    /** The lease is to be renewed now: somebody says that it may be lost. Does not wait. */
    public void renewNow() {
        thread.hasten(kept);
    }

    /**
     * Stops renewing, and does not close the lease. When it returns, the listener will not be called any more, unless
     * it is in a call and stays there for {@value #STOP_MILLIS} ms. Idempotent.
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
