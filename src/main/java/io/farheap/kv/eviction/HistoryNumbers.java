package io.farheap.kv.eviction;

/**
 * Numbers for a session's history entries, which it takes {@link #AT_ONCE} at a time, by one fetch-and-add for as many
 * evictions. Counts how many are on the way and how many requests will want one, so that requests in flight together do
 * not each take as many: numbers that nobody uses make the history shorter. One thread; nothing allocates.
 */
final class HistoryNumbers {

    static final int AT_ONCE = 8;

    /** What fetch-and-adds gave, oldest first: a ring of the next number of each, and how many there are left. */
    private final long[] next;

    private final int[] left;
    private final int mask;
    private int first;
    private int ranges;
    private int here;
    private int coming;
    private int promised;

    /** @param requests that may want some at a time, a power of two */
    HistoryNumbers(int requests) {
        next = new long[2 * requests];
        left = new int[2 * requests];
        mask = 2 * requests - 1;
    }

    /** A request will want one, and asks then by {@link #keep}. */
    void promise() {
        promised++;
    }

    /** A request that was promised one wants it now, or does not want it any more. */
    void keep() {
        promised--;
    }

    /** Whether there is one that nobody was promised. */
    boolean spare() {
        return here > promised;
    }

    boolean any() {
        return here > 0;
    }

    /**
     * Whether to take more with what is posted next.
     *
     * @param ahead how many more than were promised are to be there
     */
    boolean few(int ahead) {
        return here + coming - promised < ahead;
    }

    /** A fetch-and-add is on the way. */
    void ask() {
        coming += AT_ONCE;
    }

    /** It has come to nothing. */
    void lost() {
        coming -= AT_ONCE;
    }

    /** It has found this number. */
    void came(long number) {
        coming -= AT_ONCE;
        if (ranges == next.length) {
            // Not all of it can be kept: as where a session ends.
            return;
        }
        int at = first + ranges++ & mask;
        next[at] = number;
        left[at] = AT_ONCE;
        here += AT_ONCE;
    }

    /** The next number, where there is {@linkplain #any any}. */
    long take() {
        here--;
        long number = next[first]++;
        if (--left[first] == 0) {
            first = first + 1 & mask;
            ranges--;
        }
        return number;
    }
}
