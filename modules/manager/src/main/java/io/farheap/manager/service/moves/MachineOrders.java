package io.farheap.manager.service.moves;

/** The machines that are ordered for regions on servers that leave. Guarded by the manager's lock. */
public interface MachineOrders {

    /**
     * Returns for how many of a cache's regions room is kept or coming by the last order; 0 if there is none, or a
     * machine of it does not come.
     */
    int ordered(long cacheId);

    /** Whether machines are coming with which a cache will have room for so many regions. */
    boolean isComing(long cacheId, int regions);
}
