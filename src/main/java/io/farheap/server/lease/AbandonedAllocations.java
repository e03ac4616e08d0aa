package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.plane.ControlPlane;
import java.util.LinkedHashSet;

/**
 * Allocations that a client has abandoned. A client that got no answer to an allocation abandons it, and the two calls
 * may arrive in either order: an allocation that was abandoned must not be granted afterwards. Remembers the last
 * {@value #REMEMBERED}; if an older one arrived, it would hold its regions until the lease ends. Guarded by its owner.
 */
final class AbandonedAllocations {

    private static final int REMEMBERED = 1024;

    private final LinkedHashSet<Long> ids = new LinkedHashSet<>();

    void add(long allocationId) {
        if (allocationId == ControlPlane.ANY_ALLOCATION) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT, "allocation " + allocationId + " stands for any; name the one to abandon");
        }
        if (ids.add(allocationId) && ids.size() > REMEMBERED) {
            ids.removeFirst();
        }
    }

    /** @throws ControlException NOT_FOUND if the allocation was abandoned */
    void refuse(long allocationId) {
        if (ids.contains(allocationId)) {
            throw new ControlException(Code.NOT_FOUND, "the allocation was abandoned before it arrived");
        }
    }
}
