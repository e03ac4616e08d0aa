package io.farheap.cache.calls;

import io.farheap.cache.order.RequestBuffer;
import io.farheap.migration.region.RegionTable;
import io.farheap.thread.OwnerGate;

/** A cache, as the calls of its sessions know it. */
public interface CallHost {

    RegionTable table();

    CacheProcedures procedures();

    /**
     * @param gate of a session
     * @param wake makes the session's thread poll, if it sleeps
     */
    CallLinks callLinks(OwnerGate gate, Runnable wake);

    /** Whether the device has atomics of its own. */
    boolean atomics();

    /** Registered memory, to be freed by the caller. */
    RequestBuffer register(long bytes);
}
