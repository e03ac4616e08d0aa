package io.farheap.connection;

/**
 * Which blocks of remote memory READs are outstanding on, as counters by a hash of the block: it may say yes for a range that no
 * READ touches, never no for one that a READ touches. A wrong yes costs a fence.
 */
final class OutstandingReads {

    private static final int BLOCK_SHIFT = 12;
    private static final int COUNTERS = 1024;
    /** A READ of more blocks than this is counted once, as overlapping everything. */
    private static final int WIDE_BLOCKS = 16;
    private static final long HASH = 0x9E3779B97F4A7C15L;
    private static final int HASH_SHIFT = 54;

    private final short[] blocks = new short[COUNTERS];
    private int wide;
    private int all;

    void add(long address, int bytes) {
        count(address, bytes, 1);
    }

    void remove(long address, int bytes) {
        count(address, bytes, -1);
    }

    boolean mayOverlap(long address, int bytes) {
        if (all == 0) {
            return false;
        }
        long first = address >>> BLOCK_SHIFT;
        long last = address + bytes - 1 >>> BLOCK_SHIFT;
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

    private void count(long address, int bytes, int change) {
        all += change;
        long first = address >>> BLOCK_SHIFT;
        long last = address + bytes - 1 >>> BLOCK_SHIFT;
        if (first == last) {
            blocks[index(first)] += (short) change;
            return;
        }
        countMany(first, last, change);
    }

    private void countMany(long first, long last, int change) {
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
