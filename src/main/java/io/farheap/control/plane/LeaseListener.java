package io.farheap.control.plane;

import io.farheap.control.ControlException;

/**
 * Receives the events of a lease that a {@code LeaseKeeper} keeps, each on a thread that exists for that call alone, so
 * a call may take long; there are never two calls at once for one lease.
 */
@FunctionalInterface
public interface LeaseListener {

    /**
     * Called once when the lease is lost. The keeper has stopped by then; the listener may close it.
     *
     * @param lease the lease that is lost
     * @param cause the server's refusal, or the last failure to reach it
     */
    void leaseLost(Lease lease, ControlException cause);

    /** The lease has just been renewed, for the first time since {@code LeaseKeeper.tellNextRenewal}. */
    default void renewed(Lease lease) {}
}
