package io.farheap.kv.eviction;

/**
 * Numbers for a session's history entries. One fetch-and-add takes {@link #AT_ONCE} of them, for as many evictions.
 * This counts how many numbers are on the way and how many requests will want one, so that requests in flight at the
 * same time do not each take as many: numbers that are not used make the history shorter. One thread; nothing
 * allocates.
 */
final class HistoryNumbers {

    static final int AT_ONCE = 8;

    /**
     * A ring of the ranges that fetch-and-adds gave, oldest first: the next number of each, and how many are left in
     * it.
     */
    private final long[] next;

    private final int[] left;
    private final int mask;
    private int first;
    private int ranges;
    private int here;
    private int coming;
    private int promised;

    /** @param requests that may want numbers at the same time, a power of two */
    HistoryNumbers(int requests) {
        next = new long[2 * requests];
        left = new int[2 * requests];
        mask = 2 * requests - 1;
    }

    /** A request will want a number, and calls {@link #keep} before it takes it. */
    void promise() {
        promised++;
    }

    /** A request that was promised a number wants it now, or does not want it any more. */
    void keep() {
        promised--;
    }

    /** Whether there is a number that no request was promised. */
    boolean spare() {
        return here > promised;
    }

    boolean any() {
        return here > 0;
    }

    /**
     * Whether the next list that is posted should take more.
     *
     * @param ahead how many numbers there should be beyond the promised ones
     */
    boolean few(int ahead) {
        return here + coming - promised < ahead;
    }

    /** A fetch-and-add has been posted. */
    void ask() {
        coming += AT_ONCE;
    }

    /** The fetch-and-add has failed. */
    void lost() {
        coming -= AT_ONCE;
    }

    /** The fetch-and-add has returned this number. */
    void came(long number) {
        coming -= AT_ONCE;
        if (ranges == next.length) {
            // There is no room to keep the range: its numbers are lost, as those that a session has left when it ends.
            return;
        }
        int at = first + ranges++ & mask;
        next[at] = number;
        left[at] = AT_ONCE;
        here += AT_ONCE;
    }

    /** The next number, if there is {@linkplain #any any}. */
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
