package io.farheap.kv.eviction;

import static io.farheap.memory.NativeMemory.ALL;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.kv.space.SpaceMemory;

/**
 * For each request the slots of a bucket that may have the key of its victim: the victim's own, and live ones of its
 * fingerprint above it, lowest first. One thread; nothing allocates.
 */
public final class FingerprintMatches {

    /** The victim's slot and two above it. */
    private static final int MOST = 3;

    private final RequestColumns operations;
    private final int[] counts;
    private final int[] slots;
    private final long[] words;
    private final int[] highest;

    public FingerprintMatches(RequestColumns operations) {
        this.operations = operations;
        counts = new int[operations.count];
        slots = new int[operations.count * MOST];
        words = new long[operations.count * MOST];
        highest = new int[operations.count];
    }

    /**
     * Finds those of a slot.
     *
     * @return whether there are others than the slot itself, no more than are kept, and of blocks that can be: then
     *     their heads say which may go
     */
    public boolean find(int place, long bucketCopy, int slot, SpaceMemory space) {
        int count = 0;
        boolean readable = true;
        for (int at = slot; at != Bucket.NONE; at = Bucket.findTwin(bucketCopy, slot, at)) {
            long word = Bucket.word(bucketCopy, at);
            if (count < MOST) {
                slots[place * MOST + count] = at;
                words[place * MOST + count] = word;
            }
            count++;
            highest[place] = at;
            readable &= space.holdsBlock(word);
        }
        counts[place] = count;
        return count > 1 && count <= MOST && readable;
    }

    /** Whether the slot is the only one. */
    public boolean isAlone(int place) {
        return counts[place] == 1;
    }

    /** The highest slot that was found. */
    int highest(int place) {
        return highest[place];
    }

    /** Posts the READs of their heads, as one list. */
    public void readHeads(int place, RequestPoster posts) {
        posts.beginList();
        for (int number = 0; number < counts[place]; number++) {
            // Where one cannot be read, it is of no incarnation that there is.
            ALL.set(JAVA_LONG, operations.sampledHead(place, number), 0);
            posts.readHead(place, word(place, number), RequestColumns.sampledHeadAt(place, number), 0);
        }
        posts.endList();
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
    public int goes(int place) {
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
