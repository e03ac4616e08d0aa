package io.farheap.control.lease;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sends the renewals of leases. */
public interface LeaseRenewer {

    /**
     * Begins a renewal.
     *
     * @param withinNanos how long it may take, more than 0
     * @param ended called once with the failure, or null for success: on any thread, before or after this returns
     */
    void begin(long leaseId, long withinNanos, Consumer<@Nullable ControlException> ended);

    /** A renewer over a plane whose calls block: for a thread that renews one lease. */
    static LeaseRenewer blocking(ControlPlane plane) {
        return (leaseId, withinNanos, ended) -> {
            ControlException failed = null;
            try {
                plane.renewLease(leaseId, withinNanos);
            } catch (ControlException e) {
                failed = e;
            }
            ended.accept(failed);
        };
    }
}
