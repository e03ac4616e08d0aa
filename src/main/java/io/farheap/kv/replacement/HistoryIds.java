package io.farheap.kv.replacement;

/**
 * Numbers of history entries: 48 bits that wrap around (Ditto, section 4.3.1). The counter's value is the number of the
 * next entry. A client that reads an entry knows an older value of the counter, so the entry may be newer than the
 * known counter.
 */
public final class HistoryIds {

    private static final int SPARE_BITS = 16;
    private static final long MASK = -1L >>> SPARE_BITS;

    /** With more entries than this, old and new ones could not be distinguished. */
    public static final long LONGEST = (1L << 46) - 1;

    private HistoryIds() {}

    /** The number that comes {@code steps} after another. */
    public static long plus(long number, long steps) {
        return number + steps & MASK;
    }

    /**
     * How many entries were made since an entry: the difference modulo 2^48, from -2^47 to 2^47 - 1; 0 or less if the
     * entry is newer than the known counter.
     */
    public static long age(long counter, long entry) {
        return counter - entry << SPARE_BITS >> SPARE_BITS;
    }

    /** Whether an entry has left a history of so many entries, at most {@link #LONGEST}. */
    public static boolean expired(long counter, long entry, long length) {
        return age(counter, entry) > length;
    }
}
