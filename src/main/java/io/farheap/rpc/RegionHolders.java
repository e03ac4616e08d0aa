package io.farheap.rpc;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server's regions, and the lease that holds each of them. Server threads ask while they serve a batch, inside their
 * gates. The thread that takes a region from a lease clears its entry, and then waits until every server thread has
 * left its gate, before the region goes to another client: so an entry that a server thread has read stays true until
 * that thread leaves its gate.
 */
public final class RegionHolders {

    private static final long NOBODY = 0;

    private final MemorySegment memory;
    private final long regionBytes;
    private final long[] leases;
    /** The {@link HeldRegions#changes} of each region's last holder. Used by threads that grant and take regions. */
    private final AtomicInteger[] changes;

    /**
     * Views of the regions, each made when a handler first asks. Any server thread writes them; two threads write equal
     * views.
     */
    private final MemorySegment[] segments;

    /** @param memory all regions, contiguous */
    public RegionHolders(MemorySegment memory, long regionBytes, int regions) {
        this.memory = memory;
        this.regionBytes = regionBytes;
        this.leases = new long[regions];
        this.changes = new AtomicInteger[regions];
        this.segments = new MemorySegment[regions];
    }

    /** All regions, contiguous. */
    MemorySegment memory() {
        return memory;
    }

    long regionBytes() {
        return regionBytes;
    }

    /** As {@link HeldRegions#hold}. */
    void hold(int region, long lease, AtomicInteger changesOfLease) {
        changes[region] = changesOfLease;
        leases[region] = lease;
    }

    /**
     * Clears the entry of a region that a lease holds. The thread that takes the region calls it, and then waits until
     * every server thread has left its gate.
     */
    public void clear(int region) {
        leases[region] = NOBODY;
        changes[region].incrementAndGet();
    }

    /**
     * Whether a lease holds a region. Any thread may call it; outside a server thread's gate the result may be a moment
     * old.
     *
     * @param region any number
     */
    public boolean holds(long lease, int region) {
        return Integer.compareUnsigned(region, leases.length) < 0 && leases[region] == lease && lease != NOBODY;
    }

    /** @param region the number of an existing region */
    MemorySegment segment(int region) {
        MemorySegment segment = segments[region];
        if (segment == null) {
            segment = memory.asSlice(region * regionBytes, regionBytes);
            segments[region] = segment;
        }
        return segment;
    }
}
