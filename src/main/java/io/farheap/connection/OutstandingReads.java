package io.farheap.connection;

import io.farheap.verbs.SendRequests;

/**
 * The ranges of remote memory that a connection's outstanding READs and atomics touch, so that a WRITE or an atomic
 * which may overlap one of them can be fenced. Operations are numbered in the order of posting. The answer may be yes
 * for a range that no READ touches, which costs a fence; it is never no for a range that a READ touches. One thread at
 * a time.
 *
 * <p>The idea: a counter for each hash of a 4 KB block says how many READs touch such a block. READs are counted only
 * when a WRITE or an atomic asks, and until then their ranges are found in their work requests: a connection with READs
 * alone, or with WRITEs alone, does no work here.
 */
final class OutstandingReads {

    private static final int BLOCK_SHIFT = 12;
    private static final int COUNTERS = 1024;
    /** What an atomic adds to a counter. */
    private static final int ATOMIC = 1;
    /** What a READ adds to a counter. */
    private static final int READ = 1 << Short.SIZE | 1;
    /** The bits of a counter that count READs alone. */
    private static final int READS = 0xffff_0000;
    /** The bits of a counter that count READs, atomics, or both. */
    private static final int ANY = -1;
    /** A READ of more blocks than this is counted in {@link #wide}, as one that overlaps everything. */
    private static final int WIDE_BLOCKS = 16;

    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int HASH_SHIFT = 54;

    private final SendRequests requests;
    /**
     * The range of counted operation n, at index {@code n & mask}: its work request may serve another operation by now.
     * Its length is 0 if the operation reads nothing, and negative if it is an atomic.
     */
    private final long[] addresses;

    private final int[] bytes;
    private final int mask;

    /** The low half counts READs and atomics, the high half READs alone. */
    private final int[] blocks = new int[COUNTERS];

    private int wide;
    /** The operations whose READs are counted: from {@code from}, before {@code to}. */
    private long from;

    private long to;

    /**
     * @param requests the work request of operation n has index {@code n & (places - 1)}
     * @param places a power of two, at least the most outstanding operations
     */
    OutstandingReads(SendRequests requests, int places) {
        this.requests = requests;
        addresses = new long[places];
        bytes = new int[places];
        mask = places - 1;
    }

    /**
     * Whether a READ or an atomic from {@code completed}, before {@code posted}, may touch bytes of a range. All
     * operations there must be prepared.
     */
    boolean mayOverlap(long completed, long posted, long address, int length) {
        count(completed, posted);
        return from < to && overlapsCounted(address, length, ANY);
    }

    /** As {@link #mayOverlap}, for READs alone: an atomic executes behind earlier atomics without a fence. */
    boolean mayOverlapRead(long completed, long posted, long address, int length) {
        count(completed, posted);
        return from < to && overlapsCounted(address, length, READS);
    }

    private void count(long completed, long posted) {
        forget(completed);
        for (; to < posted; to++) {
            int place = (int) to & mask;
            int read = requests.bytesRead(place);
            bytes[place] = requests.isAtomic(place) ? -read : read;
            addresses[place] = requests.remoteAddress(place);
            count(place, 1);
        }
    }

    /** @param kinds the bits of a counter that are looked at */
    private boolean overlapsCounted(long address, int length, int kinds) {
        long first = address >>> BLOCK_SHIFT;
        long last = address + length - 1 >>> BLOCK_SHIFT;
        if (wide > 0 || last - first >= WIDE_BLOCKS) {
            return true;
        }
        for (long block = first; block <= last; block++) {
            if ((blocks[index(block)] & kinds) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Uncounts the operations before {@code end}. */
    private void forget(long end) {
        while (from < to && from < end) {
            count((int) from++ & mask, -1);
        }
        if (from == to) {
            from = end;
            to = end;
        }
    }

    private void count(int place, int change) {
        int length = Math.abs(bytes[place]);
        if (length == 0) {
            return;
        }
        int each = change * (bytes[place] < 0 ? ATOMIC : READ);
        long address = addresses[place];
        long first = address >>> BLOCK_SHIFT;
        long last = address + length - 1 >>> BLOCK_SHIFT;
        if (last - first >= WIDE_BLOCKS) {
            wide += change;
            return;
        }
        for (long block = first; block <= last; block++) {
            blocks[index(block)] += each;
        }
    }

    private static int index(long block) {
        return (int) (block * HASH >>> HASH_SHIFT);
    }
}
