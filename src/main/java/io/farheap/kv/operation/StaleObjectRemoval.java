package io.farheap.kv.operation;

import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;

/**
 * Removes an object before a request reports its key as absent. If the object has expired: otherwise a request that
 * found it earlier, and touches it or adds to it only now, would bring it back. If it cannot be read: otherwise it
 * would hide values that are set from now on. As in a delete, higher slots that have the key are emptied first, so that
 * their value does not appear; so are slots that may have it and cannot be read. If a word that cannot be read names a
 * block at all, the services find that block. One thread.
 */
public final class StaleObjectRemoval {

    /** It has not ended. */
    static final int UNDER_WAY = 0;

    static final int DONE = 1;
    /** The bucket has changed and must be read again. */
    static final int CHANGED = 2;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final Reclaimer reclaimer;
    private final MapSessionCounts counts;
    private final int extensionBytes;
    private final int[] slot;
    /** Whether the current step empties a slot; if not, it looks at one. */
    private final boolean[] swaps;
    /** Whether the request's own slot names a block that cannot be read. */
    private final boolean[] broken;
    /** The same for the slot that is being emptied. */
    private final boolean[] unreadable;

    /** @param extensionBytes of the policies in each block */
    public StaleObjectRemoval(
            RequestColumns operations,
            RequestPoster posts,
            Reclaimer reclaimer,
            MapSessionCounts counts,
            int extensionBytes) {
        this.operations = operations;
        this.posts = posts;
        this.reclaimer = reclaimer;
        this.counts = counts;
        this.extensionBytes = extensionBytes;
        slot = new int[operations.count];
        swaps = new boolean[operations.count];
        broken = new boolean[operations.count];
        unreadable = new boolean[operations.count];
    }

    /** Posts the first step, for the object of the request's slot and word. */
    void begin(int place) {
        begin(place, false);
    }

    /** The same for an object that cannot be read. */
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
        } else if (!posts.readHeader(place, BlockFormat.valueAt(extensionBytes, operations.keyBytes[place]))) {
            swap(place, true);
        }
    }

    private void swap(int place, boolean isUnreadable) {
        swaps[place] = true;
        unreadable[place] = isUnreadable;
        posts.swap(place, operations.slot[place], operations.word[place], SlotWord.EMPTY);
    }

    /**
     * Continues after the last step's operation.
     *
     * @return whether it has ended: {@link #UNDER_WAY}, {@link #DONE} or {@link #CHANGED}
     */
    int advance(int place) {
        long word = operations.word[place];
        int at = operations.slot[place];
        if (!swaps[place]) {
            boolean isOfWord = operations.headIsOfWord(place);
            if (isOfWord
                    && !PaddedKeys.equal(operations.head(place), operations.key[place], operations.keyBytes[place])) {
                next(place, at);
            } else {
                // If the block was reused, the slot has changed and the swap fails; else the block cannot be read.
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
