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
 * For each request, the slots of a bucket that may have the key of its victim: the victim's own slot, and the live
 * slots above it with the same fingerprint, lowest first. If a higher slot has the same key, it must be evicted first,
 * since the lower slot's value counts while both exist. One thread; nothing allocates.
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
     * Finds the slots for a victim's slot.
     *
     * @return whether the blocks' heads must be read to choose: there are other slots, no more than are kept here, and
     *     all their words name blocks that can be read
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

    /** Whether the victim's slot is the only one. */
    public boolean isAlone(int place) {
        return counts[place] == 1;
    }

    /** The highest slot that was found. */
    int highest(int place) {
        return highest[place];
    }

    /** Posts READs of the blocks' heads, as one list. */
    public void readHeads(int place, RequestPoster posts) {
        posts.beginList();
        for (int number = 0; number < counts[place]; number++) {
            // If the READ fails, the head has incarnation 0, which no block has.
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
     * The number of the slot to evict, once the heads are in the request's memory. A block never changes its key, so a
     * higher slot whose block has another key does not matter; one with the same key goes first. Keys of one hash count
     * as the same: then another object is evicted than the victim. If a block is not the one that its slot named, its
     * key is not known, and the highest slot goes.
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
