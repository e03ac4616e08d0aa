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
     * Whether machines are coming with which a cache will have room for so many regions, beside what is kept for it.
     *
     * @param end when the server ends that these regions leave, by the clock for time limits; machines that take longer
     *     by the menu do not count
     */
    boolean isComing(CacheRecord cache, int regions, long end);
}
