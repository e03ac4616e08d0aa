package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.HeldRegions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.IntSupplier;
import java.util.function.IntToLongFunction;

/**
 * Where the regions of a cache are that a server has: CompuCache's LocalTranslator. Its client says so; what its lease
 * does not hold is not there, whatever the client says.
 *
 * <p>Server threads use it, each inside its gate. Where {@link HeldRegions#changes} has moved on since, one of them
 * makes the table anew, and others wait for it. Two at once would not write the same: one that has seen a region held
 * before it was given back could write its address after the other has removed it, and the table would have it until a
 * region is given back again. Who uses the table meanwhile, without having waited, has looked at it before that region
 * was given back, and is waited for before another lease gets the region.
 */
final class LeaseRegionTable {

    private static final int[] NOTHING = {};

    /** Of a lease whose client has not said anything yet. */
    static final LeaseRegionTable EMPTY = new LeaseRegionTable(0, NOTHING, 16);

    private final long version;
    private final int[] regions;
    private final int shift;
    private final int entries;
    private final MemorySegment table;
    private volatile int seen = -1;

    /**
     * @param regions the server's, by virtual region; -1 where it is elsewhere
     * @param shift a region has two to the power of this bytes
     */
    LeaseRegionTable(long version, int[] regions, int shift) {
        this.version = version;
        this.regions = regions;
        this.shift = shift;
        this.entries = CallContext.entries(regions.length);
        // Freed when no thread can be in it any more: those that are hold this.
        this.table = Arena.ofAuto().allocate((long) entries * Long.BYTES, Long.BYTES);
    }

    /** Bytes of the cache that it speaks of. */
    long span() {
        return (long) regions.length << shift;
    }

    int shift() {
        return shift;
    }

    /** A power of two, which the table has. */
    int entries() {
        return entries;
    }

    /** The table's native address: by virtual region where its bytes begin in this process, 0 where they do not. */
    long table() {
        return table.address();
    }

    /** Before the table is used, on the thread that will use it. */
    void refresh(HeldRegions held) {
        if (seen != held.changes() && regions.length > 0) {
            make(held::changes, held::address);
        }
    }

    /**
     * Makes the table, where that has not happened since.
     *
     * @param changes asked before any address, so that what is given back meanwhile is seen the next time
     * @param addresses by region of the server; 0 for one that is not held
     */
    synchronized void make(IntSupplier changes, IntToLongFunction addresses) {
        int now = changes.getAsInt();
        if (seen == now) {
            return;
        }
        for (int i = 0; i < regions.length; i++) {
            table.setAtIndex(JAVA_LONG, i, regions[i] < 0 ? 0 : addresses.applyAsLong(regions[i]));
        }
        seen = now;
    }

    /**
     * Where an address of the cache is in this process.
     *
     * @param address any number
     * @return 0 where it is not here
     */
    long address(long address) {
        long index = address >>> shift;
        if (index >= regions.length) {
            return 0;
        }
        long region = table.getAtIndex(JAVA_LONG, index);
        return region == 0 ? 0 : region + (address & (1L << shift) - 1);
    }

    @Override
    public String toString() {
        return "map " + version + " of " + Arrays.toString(regions);
    }
}
