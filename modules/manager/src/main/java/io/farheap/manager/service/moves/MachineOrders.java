package io.farheap.manager.service.moves;

import io.farheap.manager.state.CacheRecord;

/** The machines that are ordered for regions on servers that leave. Guarded by the manager's lock. */
public interface MachineOrders {

    /**
     * Returns for how many of a cache's regions room is kept or coming by the last order, without what ended caches
     * will give; 0 if there is none, or a machine of it does not come.
     */
    int ordered(long cacheId);

    /**
     * Returns for how many of a cache's regions machines that are coming will give it room, with what is kept for it.
     *
     * @param end when the server ends that these regions leave, by the clock for time limits; 0 is returned if any
     *     machine takes longer by the menu
     */
    int coming(CacheRecord cache, long end);
}
