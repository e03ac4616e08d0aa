package io.farheap.kv.elastic;

import io.farheap.kv.format.Bucket;
import io.farheap.kv.operation.MoveSteps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * Objects as they were found in the table: slots, their words, and when they were used last. A row of three words each,
 * in chunks that are kept, so that no row is copied while their number grows. One thread.
 */
final class FoundObjects {

    private static final int ROW = 3;
    private static final int CHUNK_BITS = 12;
    private static final int CHUNK_ROWS = 1 << CHUNK_BITS;

    private final List<long[]> chunks = new ArrayList<>();
    private int count;
    /** Those whose slots may be emptied as they are ({@link Bucket#mayEvict}). */
    private final BitSet alone = new BitSet();

    void clear() {
        alone.clear();
        count = 0;
    }

    /** @param slot as {@link MoveSteps#slot} has it */
    void add(long slot, long word, long usedLast) {
        if (count == chunks.size() * CHUNK_ROWS) {
            chunks.add(new long[ROW * CHUNK_ROWS]);
        }
        long[] chunk = chunks.get(count >>> CHUNK_BITS);
        int at = at(count++);
        chunk[at] = slot;
        chunk[at + 1] = word;
        chunk[at + 2] = usedLast;
    }

    private static int at(int number) {
        return ROW * (number & CHUNK_ROWS - 1);
    }

    private long get(int number, int column) {
        return chunks.get(number >>> CHUNK_BITS)[at(number) + column];
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
        return get(number, 0);
    }

    long word(int number) {
        return get(number, 1);
    }

    long used(int number) {
        return get(number, 2);
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
            long used = used(i);
            if (used >= oldest) {
                keys[n++] = (-1L - used) >> bits << bits | i;
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
