package io.farheap.kv;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Objects as they were found in the table: slots, their words, and when they were used last. A row of three words each,
 * so that they are sorted together. One thread.
 */
final class FoundObjects {

    private static final int ROW = 3;
    private static final int FIRST_ROWS = 1024;

    private long[] rows = new long[ROW * FIRST_ROWS];
    private int count;
    /** Those whose slots may be emptied as they are ({@link Bucket#mayEvict}). */
    private final BitSet alone = new BitSet();

    void clear() {
        alone.clear();
        count = 0;
    }

    /** @param slot as {@link MoveSteps#slot} has it */
    void add(long slot, long word, long usedLast) {
        if (ROW * count == rows.length) {
            rows = Arrays.copyOf(rows, 2 * rows.length);
        }
        int at = ROW * count++;
        rows[at] = slot;
        rows[at + 1] = word;
        rows[at + 2] = usedLast;
    }

    /** The one that was added last may be evicted as it is. */
    void lastIsAlone() {
        alone.set(count - 1);
    }

    boolean isAlone(int number) {
        return alone.get(number);
    }

    int count() {
        return count;
    }

    long slot(int number) {
        return rows[ROW * number];
    }

    long word(int number) {
        return rows[ROW * number + 1];
    }

    long used(int number) {
        return rows[ROW * number + 2];
    }

    /**
     * Those that were used at a time or later, the latest first.
     *
     * @return their numbers
     */
    int[] latestFirst(long oldest) {
        // Sorted by the time, of which the upper bits are enough, with the number below them.
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, count));
        long[] keys = new long[count];
        int n = 0;
        for (int i = 0; i < count; i++) {
            if (used(i) >= oldest) {
                keys[n++] = (-1L - used(i)) >> bits << bits | i;
            }
        }
        Arrays.sort(keys, 0, n);
        int[] numbers = new int[n];
        for (int i = 0; i < n; i++) {
            numbers[i] = (int) (keys[i] & (1L << bits) - 1);
        }
        return numbers;
    }
}
