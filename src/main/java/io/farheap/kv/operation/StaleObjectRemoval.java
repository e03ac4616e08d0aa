package io.farheap.kv.operation;

import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;

/**
 * Takes an object out that is said to be absent then. If its time is over: else who found it earlier, and touches it or
 * adds to it only now, would bring it back. If it cannot be read: else it would hide what is set from now on. As for a
 * delete, higher slots that have the key go first, so that their value does not appear; and so do those that may have
 * it and cannot be read. The block of what cannot be read, if it is one, is the services' to find. One thread.
 */
public final class StaleObjectRemoval {

    /** More is to come. */
    static final int UNDER_WAY = 0;

    static final int DONE = 1;
    /** The bucket has changed and is to be read anew. */
    static final int CHANGED = 2;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final Reclaimer reclaimer;
    private final MapSessionCounts counts;
    private final int[] slot;
    /** Whether a slot is being emptied, not looked at. */
    private final boolean[] swaps;
    /** Whether the request's own slot names what cannot be read. */
    private final boolean[] broken;
    /** The same of the slot that is being emptied. */
    private final boolean[] unreadable;

    public StaleObjectRemoval(
            RequestColumns operations, RequestPoster posts, Reclaimer reclaimer, MapSessionCounts counts) {
        this.operations = operations;
        this.posts = posts;
        this.reclaimer = reclaimer;
        this.counts = counts;
        slot = new int[operations.count];
        swaps = new boolean[operations.count];
        broken = new boolean[operations.count];
        unreadable = new boolean[operations.count];
    }

    /** Posts the first step, for the object that the request's slot and word are of. */
    void begin(int place) {
        begin(place, false);
    }

    /** The same for what cannot be read. */
    void beginBroken(int place) {
        begin(place, true);
    }

    private void begin(int place, boolean isBroken) {
        broken[place] = isBroken;
        slot[place] = operations.slot[place];
        next(place, SpaceShape.BUCKET_SLOTS);
    }

    private void next(int place, int below) {
        long bucket = operations.bucket(place);
        int highest = Bucket.findLast(bucket, operations.hash[place], below);
        operations.slot[place] = Math.max(highest, slot[place]);
        operations.word[place] = Bucket.word(bucket, operations.slot[place]);
        swaps[place] = highest <= slot[place];
        if (swaps[place]) {
            swap(place, broken[place]);
        } else if (!posts.readHeader(place, BlockFormat.HEADER_BYTES)) {
            swap(place, true);
        }
    }

    private void swap(int place, boolean isUnreadable) {
        swaps[place] = true;
        unreadable[place] = isUnreadable;
        posts.swap(place, operations.slot[place], operations.word[place], SlotWord.EMPTY);
    }

    /** Goes on. */
    int advance(int place) {
        long word = operations.word[place];
        int at = operations.slot[place];
        if (!swaps[place]) {
            boolean isOfWord = operations.headIsOfWord(place);
            if (isOfWord && BlockFormat.hash(NativeMemory.ALL, operations.head(place)) != operations.hash[place]) {
                next(place, at);
            } else {
                // Where the block was used again, the slot has changed, and the swap fails; else it cannot be read.
                swap(place, !isOfWord);
            }
            return UNDER_WAY;
        }
        if (posts.found(place) != word) {
            return CHANGED;
        }
        if (unreadable[place]) {
            counts.add(MapSessionCounts.UNLINKED);
        } else {
            reclaimer.reclaim(word);
        }
        if (at == slot[place]) {
            return DONE;
        }
        next(place, at);
        return UNDER_WAY;
    }
}
