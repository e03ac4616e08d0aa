package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.HeldRegions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;
import java.util.function.IntToLongFunction;

/**
 * The native addresses of a cache's regions on this server: CompuCache's LocalTranslator. The client sends which region
 * of the server backs which virtual region; a region that its lease does not hold has no address here, whatever the
 * client sends.
 *
 * <p>Server threads use it, each inside its gate. If {@link HeldRegions#changes} has advanced, one thread rewrites the
 * table, a part at a time, and until it is whole no thread runs a call by it: calls wait for their next slices, and no
 * thread waits for another. Two threads must not write at once. One that has read a region's address before the region
 * was given back could store it after the other has removed it, and the table would keep that address until the next
 * region is given back. A thread that uses the table at the same time has compared the count before that region was
 * given back, and is inside its gate: the server waits for it before another lease gets the region.
 *
 * <p>What other leases give back does not move the count of this one. The table of a lease that gives regions back all
 * the time is written at once.
 */
final class LeaseRegionTable {

    private static final int[] NOTHING = {};

    /** Entries that are written at a time: some tens of microseconds. */
    static final int MOST_AT_ONCE = 1 << 14;

    /** If the lease gives regions back so often while the table is being written, all of it is written at once. */
    private static final int MOST_RESTARTS = 2;

    /** The map of a lease whose client has not sent one. */
    static final LeaseRegionTable EMPTY = new LeaseRegionTable(0, NOTHING, 16);

    private final long version;
    private final int[] regions;
    private final int shift;
    private final int entries;
    private final MemorySegment table;
    private volatile int seen = -1;
    private final AtomicBoolean making = new AtomicBoolean();
    // Used by the thread that makes the table: the next entry, how many are left of all since the count was such, and
    // how often the count has moved before they were all written.
    private int next;
    private int left;
    private int counted;
    private int restarts;

    /**
     * A map.
     *
     * @param regions the server's regions by virtual region; -1 if it is on another server
     * @param shift a region has two to the power of this bytes
     */
    LeaseRegionTable(long version, int[] regions, int shift) {
        this.version = version;
        this.regions = regions;
        this.shift = shift;
        this.entries = CallContext.entries(regions.length);
        // The memory is freed when no thread can use it any more: a thread that does holds a reference to this object.
        this.table = Arena.ofAuto().allocate((long) entries * Long.BYTES, Long.BYTES);
    }

    /** Bytes of memory that a map of so many regions takes. */
    static long bytes(int regions) {
        return (long) CallContext.entries(regions) * Long.BYTES + (long) regions * Integer.BYTES;
    }

    /** Bytes of the cache that the map covers. */
    long span() {
        return (long) regions.length << shift;
    }

    int shift() {
        return shift;
    }

    /** Number of the table's entries, a power of two. */
    int entries() {
        return entries;
    }

    /**
     * The table's native address. By virtual region it has the native address of the region's bytes in this process, or
     * 0.
     */
    long table() {
        return table.address();
    }

    /**
     * Brings the table up to date, or a part of it; the thread that is about to use it calls this first.
     *
     * @return whether it may be used; if not, another thread is writing it, or there is more to write
     */
    boolean refresh(HeldRegions held) {
        return isFresh(held) || make(held::changes, held::address);
    }

    /** Whether the table is up to date, and may be used. */
    boolean isFresh(HeldRegions held) {
        return seen == held.changes() || regions.length == 0;
    }

    /**
     * Writes a part of the table, unless it is up to date.
     *
     * @param changes read before any address, so that a region that is given back meanwhile is noticed the next time
     * @param addresses by region of the server; 0 for a region that is not held
     */
    boolean make(IntSupplier changes, IntToLongFunction addresses) {
        if (!making.compareAndSet(false, true)) {
            return false;
        }
        try {
            int now = changes.getAsInt();
            if (seen == now) {
                return true;
            }
            if (left == 0 || counted != now) {
                restarts = left == 0 ? 0 : restarts + 1;
                counted = now;
                left = regions.length;
            }
            int most = restarts < MOST_RESTARTS ? MOST_AT_ONCE : left;
            for (int i = Math.min(left, most); i > 0; i--) {
                int region = regions[next];
                table.setAtIndex(JAVA_LONG, next, region < 0 ? 0 : addresses.applyAsLong(region));
                next = next + 1 == regions.length ? 0 : next + 1;
                left--;
            }
            if (left > 0) {
                return false;
            }
            seen = now;
            return true;
        } finally {
            making.set(false);
        }
    }

    /**
     * The native address of a cache address.
     *
     * @param address any number
     * @return 0 if it is not in this process
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
