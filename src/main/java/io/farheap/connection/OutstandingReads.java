package io.farheap.connection;

import io.farheap.verbs.SendRequests;

/**
 * The ranges of remote memory that a connection's outstanding READs touch, so that a WRITE which may overlap one of
 * them can be fenced. Operations are numbered in the order of posting. The answer may be yes for a range that no READ
 * touches, which costs a fence; it is never no for a range that a READ touches. One thread at a time.
 *
 * <p>The idea: a counter for each hash of a 4 KB block says how many READs touch such a block. READs are counted only
 * when a WRITE asks, and until then their ranges are found in their work requests: a connection with READs alone, or
 * with WRITEs alone, does no work here.
 */
final class OutstandingReads {

    private static final int BLOCK_SHIFT = 12;
    private static final int COUNTERS = 1024;
    /** A READ of more blocks than this is counted in {@link #wide}, as one that overlaps everything. */
    private static final int WIDE_BLOCKS = 16;

    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int HASH_SHIFT = 54;

    private final SendRequests requests;
    /**
     * The range of counted operation n, at index {@code n & mask}: its work request may serve another operation by now.
     * Its length is 0 if the operation is no READ.
     */
    private final long[] addresses;

    private final int[] bytes;
    private final int mask;

    private final short[] blocks = new short[COUNTERS];
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
     * Whether an operation from {@code completed}, before {@code posted}, may read bytes of a range. All of them must
     * be prepared.
     */
    boolean mayOverlap(long completed, long posted, long address, int length) {
        forget(completed);
        for (; to < posted; to++) {
            int place = (int) to & mask;
            bytes[place] = requests.bytesRead(place);
            addresses[place] = requests.remoteAddress(place);
            count(place, 1);
        }
        return from < to && overlapsCounted(address, length);
    }

    private boolean overlapsCounted(long address, int length) {
        long first = address >>> BLOCK_SHIFT;
        long last = address + length - 1 >>> BLOCK_SHIFT;
        if (wide > 0 || last - first >= WIDE_BLOCKS) {
            return true;
        }
        for (long block = first; block <= last; block++) {
            if (blocks[index(block)] > 0) {
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
        int length = bytes[place];
        if (length == 0) {
            return;
        }
        long address = addresses[place];
        long first = address >>> BLOCK_SHIFT;
        long last = address + length - 1 >>> BLOCK_SHIFT;
        if (last - first >= WIDE_BLOCKS) {
            wide += change;
            return;
        }
        for (long block = first; block <= last; block++) {
            blocks[index(block)] += (short) change;
        }
    }

    private static int index(long block) {
        return (int) (block * HASH >>> HASH_SHIFT);
    }
}
