package io.farheap.kv.replacement;

/**
 * Numbers of history entries: 48 bits that wrap (Ditto, section 4.3.1). The counter's value is the number that the next
 * entry gets. Who reads an entry knows the counter from some time ago, so the entry may be newer than the counter that
 * is known.
 */
public final class HistoryIds {

    private static final int SPARE_BITS = 16;
    private static final long MASK = -1L >>> SPARE_BITS;

    /** Beyond this many entries old and new ones could not be told apart. */
    public static final long LONGEST = (1L << 46) - 1;

    private HistoryIds() {}

    /** A number that lies so many after another. */
    public static long plus(long number, long steps) {
        return number + steps & MASK;
    }

    /**
     * How many entries were made since one: the difference modulo 2^48 from -2^47 to 2^47 - 1; 0 or less where the
     * entry is newer than the counter that is known.
     */
    public static long age(long counter, long entry) {
        return counter - entry << SPARE_BITS >> SPARE_BITS;
    }

    /** Whether an entry has left a history of so many entries, at most {@link #LONGEST}. */
    public static boolean expired(long counter, long entry, long length) {
        return age(counter, entry) > length;
    }
}
