package io.farheap.connection;

/**
 * Which remote memory the READs of a connection are outstanding on, for the WRITEs that may overlap them. Operations are numbers, in the order of
 * posting. It may say yes for a range that no READ touches, never no for one that a READ touches: a wrong yes costs a fence. One thread at a time.
 *
 * <p>READs are counted, by a hash of the blocks they touch, only when a WRITE asks: where there are READs alone, or WRITEs alone, nothing is.
 */
final class OutstandingReads {

    private static final int BLOCK_SHIFT = 12;
    private static final int COUNTERS = 1024;
    /** A READ of more blocks than this is counted once, as overlapping everything. */
    private static final int WIDE_BLOCKS = 16;
    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int HASH_SHIFT = 54;
    private static final long NOTHING = Long.MAX_VALUE;

    /** Of operation n, in place {@code n & mask}; no bytes for one that is no READ. */
    private final long[] addresses;
    private final int[] bytes;
    private final int mask;
    private long lastRead = -1;

    private final short[] blocks = new short[COUNTERS];
    private int wide;
    /** Of the operations from the one to the other, READs are counted. */
    private long from = NOTHING;
    private long to = NOTHING;

    /** @param places a power of two; no more operations are outstanding at a time */
    OutstandingReads(int places) {
        addresses = new long[places];
        bytes = new int[places];
        mask = places - 1;
    }

    /** Operation {@code n} is a READ. */
    void read(long n, long address, int length) {
        place(n, address, length);
        lastRead = n;
    }

    /** Operation {@code n} is a WRITE. */
    void write(long n) {
        place(n, 0, 0);
    }

    private void place(long n, long address, int length) {
        if (n - from > mask) {
            forget(n - mask);
        }
        addresses[(int) n & mask] = address;
        bytes[(int) n & mask] = length;
    }

    /** Whether a range may be read by one of the operations from {@code completed} to {@code posted}, which is not one of them. */
    boolean mayOverlap(long completed, long posted, long address, int length) {
        if (lastRead < completed) {
            return false;
        }
        forget(completed);
        if (from == NOTHING) {
            from = completed;
            to = completed;
        }
        for (; to < posted; to++) {
            count(to, 1);
        }
        return overlapsCounted(address, length);
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

    /** Operations before {@code end} are not counted any more. */
    private void forget(long end) {
        while (from < to && from < end) {
            count(from++, -1);
        }
        if (from == to) {
            from = NOTHING;
            to = NOTHING;
        }
    }

    private void count(long n, int change) {
        int length = bytes[(int) n & mask];
        if (length == 0) {
            return;
        }
        long address = addresses[(int) n & mask];
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
