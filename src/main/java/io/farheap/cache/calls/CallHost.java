package io.farheap.cache.calls;

import io.farheap.cache.order.RequestBuffer;
import io.farheap.migration.region.RegionTable;
import io.farheap.thread.OwnerGate;

/** A cache, as the calls of its sessions use it. */
public interface CallHost {

    RegionTable table();

    CacheProcedures procedures();

    /**
     * Makes a session's connections for calls.
     *
     * @param gate the session's gate
     * @param wake makes the session's thread poll, if it sleeps
     */
    CallLinks callLinks(OwnerGate gate, Runnable wake);

    /** Whether the device has atomics of its own. */
    boolean atomics();

    /** Allocates registered memory, which the caller frees. */
    RequestBuffer register(long bytes);
}
