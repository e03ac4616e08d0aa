package io.farheap.control.plane;

import io.farheap.control.ControlException;

/**
 * Told of a lease that a {@code LeaseKeeper} keeps, on a thread that is there for that call alone, so it may take its
 * time; of one lease never two calls at once.
 */
@FunctionalInterface
public interface LeaseListener {

    /**
     * Told once that the lease is lost. The keeper has stopped by then; the listener may close it.
     *
     * @param lease the one that is lost
     * @param cause the server's refusal, or the last failure to reach it
     */
    void leaseLost(Lease lease, ControlException cause);

    /** The lease was renewed just now, the first time since {@code LeaseKeeper.tellNextRenewal}. */
    default void renewed(Lease lease) {}
}
