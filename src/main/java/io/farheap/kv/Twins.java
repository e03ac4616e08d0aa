package io.farheap.kv;

import static io.farheap.memory.NativeMemory.ALL;

/**
 * For each request the slots of a bucket that may have the key of its victim: the victim's own, and live ones of its
 * fingerprint above it, lowest first. One thread; nothing allocates.
 */
final class Twins {

    /** The victim's slot and two above it. */
    private static final int MOST = 3;

    private final Operations operations;
    private final int[] counts;
    private final int[] slots;
    private final long[] words;

    Twins(Operations operations) {
        this.operations = operations;
        counts = new int[operations.count];
        slots = new int[operations.count * MOST];
        words = new long[operations.count * MOST];
    }

    void clear(int place) {
        counts[place] = 0;
    }

    void add(int place, int slot, long word) {
        int number = counts[place]++;
        if (number < MOST) {
            slots[place * MOST + number] = slot;
            words[place * MOST + number] = word;
        }
    }

    int count(int place) {
        return counts[place];
    }

    /** Whether there are more than are kept. */
    boolean tooMany(int place) {
        return counts[place] > MOST;
    }

    int slot(int place, int number) {
        return slots[place * MOST + number];
    }

    long word(int place, int number) {
        return words[place * MOST + number];
    }

    /**
     * Which one goes, when the heads of their blocks are in the request's memory. A block never changes its key, so a
     * slot above that names one with another key does not keep the victim; one with the same goes first. Where a block
     * is not the one that its slot named, nothing is known, and the highest goes.
     */
    int goes(int place) {
        int goes = 0;
        for (int number = 0; number < counts[place]; number++) {
            long head = operations.sampledHead(place, number);
            if (BlockFormat.incarnation(ALL, head) != SlotWord.incarnation(word(place, number))) {
                return counts[place] - 1;
            }
            if (BlockFormat.hash(ALL, head) == BlockFormat.hash(ALL, operations.sampledHead(place, 0))) {
                goes = number;
            }
        }
        return goes;
    }
}
