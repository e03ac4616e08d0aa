package io.farheap.control.lease;

import io.farheap.control.ControlException;
import io.farheap.control.plane.ControlPlane;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** How a lease is renewed. */
public interface LeaseRenewer {

    /**
     * Begins a renewal.
     *
     * @param withinNanos how long it may take, more than 0
     * @param ended told once how it ended, null for well: on any thread, before or after this returns
     */
    void begin(long leaseId, long withinNanos, Consumer<@Nullable ControlException> ended);

    /** Those of a plane whose calls block: for a thread that has one lease to renew. */
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
