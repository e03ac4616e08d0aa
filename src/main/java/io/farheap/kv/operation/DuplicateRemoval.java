package io.farheap.kv.operation;

import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;

/**
 * The end of an insertion. If several slots have the request's key, all but the lowest are emptied, the highest first;
 * so are slots that may have the key and cannot be read. Then the request has ended. Each step looks at the bucket as
 * it was last read. One thread.
 *
 * <p><b>Why no old value comes back.</b> A session that empties the lower of two slots of one key has read the bucket
 * with both in it, and empties the higher one first. A session that read the bucket before there were two knows only of
 * one slot; then the insertion into the other has not ended yet, and may take effect now. An object that
 * {@link ChangeSteps} add may hide a newer value that a set has stored in a higher slot at the same time; so a session
 * that finds both removes both, and no stale value stays.
 */
final class DuplicateRemoval {

    // The steps, kept beside the request's own step.
    private static final int LOOK = 0;
    private static final int PROBE = 1;
    private static final int REMOVE = 2;
    private static final int SURVIVOR = 3;
    private static final int UNREADABLE = 4;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final RequestSink ending;
    private final ProbeBuffer probe;
    private final Reclaimer reclaimer;
    private final MapSessionCounts counts;
    private final int extensionBytes;
    private final int[] step;
    /** The slot that it looks at. */
    private final int[] slot;
    /** Whether the request has taken out a slot. */
    private final boolean[] doubled;

    DuplicateRemoval(
            RequestColumns operations,
            RequestPoster posts,
            RequestSink ending,
            ProbeBuffer probe,
            Reclaimer reclaimer,
            MapSessionCounts counts,
            int extensionBytes) {
        this.operations = operations;
        this.posts = posts;
        this.ending = ending;
        this.probe = probe;
        this.reclaimer = reclaimer;
        this.counts = counts;
        this.extensionBytes = extensionBytes;
        step = new int[operations.count];
        slot = new int[operations.count];
        doubled = new boolean[operations.count];
    }

    /** Begins after the insertion; the bucket has been read after that. */
    void begin(int place) {
        doubled[place] = false;
        look(place);
    }

    /** Continues after the operations of the last step. */
    void advance(int place) {
        switch (step[place]) {
            case LOOK -> look(place);
            case PROBE -> probed(place);
            case REMOVE -> removed(place);
            case UNREADABLE -> lookAnew(place);
            default -> survived(place);
        }
    }

    private void lookAnew(int place) {
        step[place] = LOOK;
        posts.readBucket(place);
    }

    private void look(int place) {
        operations.slot[place] = Bucket.NONE;
        look(place, SpaceShape.BUCKET_SLOTS);
    }

    /**
     * Looks at slots below {@code below}, until it has found two that have the key; the request's slot is the higher of
     * them.
     */
    private void look(int place, int below) {
        long bucket = operations.bucket(place);
        int next = Bucket.findLast(bucket, operations.hash[place], below);
        if (next == Bucket.NONE
                || operations.slot[place] == Bucket.NONE && Bucket.find(bucket, operations.hash[place], 0) == next) {
            settled(place, operations.slot[place] == Bucket.NONE ? next : operations.slot[place]);
            return;
        }
        slot[place] = next;
        if (Bucket.word(bucket, next) == operations.block[place]) {
            found(place);
        } else if (!probe.take()) {
            lookAnew(place);
        } else {
            step[place] = PROBE;
            if (!posts.readBlock(place, Bucket.word(bucket, next), probe.memory(), 0)) {
                probe.give();
                removeUnreadable(place);
            }
        }
    }

    private void probed(int place) {
        long word = Bucket.word(operations.bucket(place), slot[place]);
        boolean whole = probe.whole(word);
        boolean mine = whole && PaddedKeys.equal(probe.address(), operations.key[place], operations.keyBytes[place]);
        probe.give();
        if (mine) {
            found(place);
        } else if (whole) {
            look(place, slot[place]);
        } else if (operations.staysBroken(place, word)) {
            removeUnreadable(place);
        } else {
            lookAnew(place);
        }
    }

    /** If the slot names a block at all, the services find that one. */
    private void removeUnreadable(int place) {
        counts.add(MapSessionCounts.UNLINKED);
        step[place] = UNREADABLE;
        posts.swap(place, slot[place], Bucket.word(operations.bucket(place), slot[place]), SlotWord.EMPTY);
    }

    /** Another slot has the key; the first that is found is the highest. */
    private void found(int place) {
        if (operations.slot[place] == Bucket.NONE) {
            operations.slot[place] = slot[place];
            look(place, slot[place]);
            return;
        }
        counts.add(MapSessionCounts.DUPLICATES);
        doubled[place] = true;
        operations.word[place] = Bucket.word(operations.bucket(place), operations.slot[place]);
        remove(place);
    }

    private void remove(int place) {
        step[place] = REMOVE;
        posts.swap(place, operations.slot[place], operations.word[place], SlotWord.EMPTY);
    }

    private void removed(int place) {
        if (posts.found(place) == operations.word[place]) {
            reclaimer.reclaim(operations.word[place]);
        }
        lookAnew(place);
    }

    /** At most one slot has the key: this one. */
    private void settled(int place, int last) {
        if (doubled[place] && last != Bucket.NONE) {
            operations.slot[place] = last;
            operations.word[place] = Bucket.word(operations.bucket(place), last);
            step[place] = SURVIVOR;
            posts.readHeader(place, BlockFormat.valueAt(extensionBytes, operations.keyBytes[place]));
        } else {
            ending.end(place, KvStatus.DONE);
        }
    }

    /** The slot that remains of two may have hidden a value that was set: if it may, it is emptied too. */
    private void survived(int place) {
        long head = operations.head(place);
        if (operations.headIsOfWord(place)
                && PaddedKeys.equal(head, operations.key[place], operations.keyBytes[place])
                && BlockFormat.conditional(NativeMemory.ALL, head)) {
            remove(place);
        } else {
            ending.end(place, KvStatus.DONE);
        }
    }

    /** A connection failed, and was made again. */
    void again(int place) {
        lookAnew(place);
    }

    /** The request ends early. */
    void abandon(int place) {
        if (step[place] == PROBE) {
            probe.give();
        }
    }
}
