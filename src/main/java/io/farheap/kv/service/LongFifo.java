package io.farheap.kv.service;

import java.util.Arrays;

/** Words, first in, first out. One thread at a time. */
final class LongFifo {

    private long[] ring = new long[16];
    private int first;
    private int count;

    int size() {
        return count;
    }

    void add(long word) {
        if (count == ring.length) {
            long[] larger = Arrays.copyOfRange(ring, first, first + 2 * ring.length);
            System.arraycopy(ring, 0, larger, ring.length - first, first);
            first = 0;
            ring = larger;
        }
        ring[first + count++ & ring.length - 1] = word;
    }

    /** The next to be removed. */
    long first() {
        return ring[first];
    }

    void removeAll(long word) {
        for (int left = count; left > 0; left--) {
            long each = remove();
            if (each != word) {
                add(each);
            }
        }
    }

    long remove() {
        long word = ring[first];
        first = first + 1 & ring.length - 1;
        count--;
        return word;
    }
}
