package io.farheap.kv.operation;

import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;

/**
 * Removes an object before a request reports its key as absent. If the object has expired: otherwise a request that
 * found it earlier, and touches it or adds to it only now, would bring it back. If it cannot be read: otherwise it
 * would hide values that are set from now on; which key it had is not known then, so the request looks at its bucket
 * again. If a word that cannot be read names a block at all, the services find that block. One thread.
 */
public final class StaleObjectRemoval {

    /** The object has expired, and is removed. */
    static final int DONE = 1;
    /** The bucket has changed, and must be read again. */
    static final int CHANGED = 2;
    /** An operation has been posted: this must be called again when it has come back. */
    static final int GOES_ON = 3;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final Reclaimer reclaimer;
    private final MapSessionCounts counts;
    /** Whether the request's slot names a block that cannot be read. */
    private final boolean[] broken;

    public StaleObjectRemoval(
            RequestColumns operations, RequestPoster posts, Reclaimer reclaimer, MapSessionCounts counts) {
        this.operations = operations;
        this.posts = posts;
        this.reclaimer = reclaimer;
        this.counts = counts;
        broken = new boolean[operations.count];
    }

    /** Posts the removal of the object of the request's slot and word. */
    void begin(int place) {
        begin(place, false);
    }

    /** The same for an object that cannot be read. */
    void beginBroken(int place) {
        begin(place, true);
    }

    /** Whether the object that is being removed cannot be read, so that it may be another key's. */
    boolean isOfBroken(int place) {
        return broken[place];
    }

    private void begin(int place, boolean isBroken) {
        broken[place] = isBroken;
        swap(place);
    }

    private void swap(int place) {
        posts.swap(place, operations.slot[place], operations.word[place], SlotWord.EMPTY);
    }

    /**
     * Ends the removal, whose operation has come back.
     *
     * @return {@link #DONE}, {@link #CHANGED} or {@link #GOES_ON}
     */
    int end(int place) {
        long again = posts.swapAgain(place, operations.word[place]);
        if (again != SlotWord.EMPTY) {
            operations.word[place] = again;
            swap(place);
            return GOES_ON;
        }
        if (posts.found(place) != operations.word[place]) {
            return CHANGED;
        }
        if (broken[place]) {
            counts.add(MapSessionCounts.UNLINKED);
            return CHANGED;
        }
        reclaimer.reclaim(operations.word[place]);
        return DONE;
    }
}
