package io.farheap.kv.elastic;

import io.farheap.kv.operation.MoveSteps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A list of objects that were found in the table: for each its slot, its word, and when it was used last. Each is a row
 * of three words, in chunks that are kept, so that no row is copied when the list grows. One thread.
 */
final class FoundObjects {

    private static final int ROW = 3;
    private static final int CHUNK_BITS = 12;
    private static final int CHUNK_ROWS = 1 << CHUNK_BITS;

    private final List<long[]> chunks = new ArrayList<>();
    private int count;

    void clear() {
        count = 0;
    }

    /** @param slot in the form of {@link MoveSteps#slot} */
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

    /** The numbers of the objects that were used at {@code oldest} or later, the latest first. */
    int[] latestFirst(long oldest) {
        // Sorts by time with the object's number in the low bits; the remaining bits of the time are precise enough.
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
