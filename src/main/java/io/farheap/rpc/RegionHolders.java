package io.farheap.rpc;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * A server's regions, and the lease that holds each of them. Server threads ask while they serve a batch, inside their
 * gates. The thread that takes a region from a lease clears its entry, and then waits until every server thread has
 * left its gate, before the region goes to another client: so an entry that a server thread has read stays true until
 * that thread leaves its gate.
 */
public final class RegionHolders {

    private static final long NOBODY = 0;
    private static final int COUNT_BITS = 10;
    /** Two to the power of 64 by the golden ratio (Knuth's multiplicative hashing). */
    private static final long SPREAD = 0x9E3779B97F4A7C15L;

    private final MemorySegment memory;
    private final long regionBytes;
    private final long[] leases;
    /**
     * How often an entry of a lease was cleared; a few leases may share a number. Incremented before the thread that
     * clears it waits for the server threads, read inside their gates.
     */
    private final AtomicIntegerArray cleared = new AtomicIntegerArray(1 << COUNT_BITS);

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
        this.segments = new MemorySegment[regions];
    }

    /** All regions, contiguous. */
    MemorySegment memory() {
        return memory;
    }

    long regionBytes() {
        return regionBytes;
    }

    /**
     * Enters the lease that holds a region from now on. The thread that grants the region calls it, before the client
     * learns of the grant.
     *
     * @param region 0 to the number of regions - 1, whose entry is clear
     */
    public void hold(int region, long lease) {
        leases[region] = lease;
    }

    /**
     * Clears a region's entry. The thread that takes the region calls it, and then waits until every server thread has
     * left its gate.
     */
    public void clear(int region) {
        long lease = leases[region];
        leases[region] = NOBODY;
        cleared.incrementAndGet(count(lease));
    }

    /** A number that changes whenever an entry of a lease is cleared. */
    int cleared(long lease) {
        return cleared.get(count(lease));
    }

    private static int count(long lease) {
        return (int) (lease * SPREAD >>> Long.SIZE - COUNT_BITS);
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
