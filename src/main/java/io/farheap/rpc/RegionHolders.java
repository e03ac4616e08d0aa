package io.farheap.rpc;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server's regions, and which lease holds each. Server threads ask while they serve a batch, inside their gates; an
 * entry is cleared before those threads are waited for and the region goes to another, so what a thread found here is
 * right until it leaves its gate.
 */
public final class RegionHolders {

    private static final long NOBODY = 0;

    private final MemorySegment memory;
    private final long regionBytes;
    private final long[] leases;
    /** How often an entry was cleared: written before server threads are waited for, read inside their gates. */
    private final AtomicInteger cleared = new AtomicInteger();

    /** Made when a handler first asks; written by any server thread, and alike whoever does. */
    private final MemorySegment[] segments;

    /** @param memory all regions, one after another */
    public RegionHolders(MemorySegment memory, long regionBytes, int regions) {
        this.memory = memory;
        this.regionBytes = regionBytes;
        this.leases = new long[regions];
        this.segments = new MemorySegment[regions];
    }

    /** All regions, one after another. */
    MemorySegment memory() {
        return memory;
    }

    long regionBytes() {
        return regionBytes;
    }

    public void hold(int region, long lease) {
        leases[region] = lease;
    }

    public void clear(int region) {
        leases[region] = NOBODY;
        cleared.incrementAndGet();
    }

    int cleared() {
        return cleared.get();
    }

    /**
     * Whether a lease holds a region. Any thread, which may see what changes a moment late.
     *
     * @param region any number
     */
    public boolean holds(long lease, int region) {
        return Integer.compareUnsigned(region, leases.length) < 0 && leases[region] == lease && lease != NOBODY;
    }

    /** @param region one that there is */
    MemorySegment segment(int region) {
        MemorySegment segment = segments[region];
        if (segment == null) {
            segment = memory.asSlice(region * regionBytes, regionBytes);
            segments[region] = segment;
        }
        return segment;
    }
}
