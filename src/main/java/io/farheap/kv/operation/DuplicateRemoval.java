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
 * The end of an insertion: of slots that have the request's key all but the lowest are taken out, the highest first,
 * and so are those that may have it and cannot be read; then the request has ended. Each step looks at the bucket as it
 * was read last. One thread.
 *
 * <p><b>Why no value comes back.</b> Who takes out the lower of two slots of one key has read the bucket with both in
 * it and takes out the higher first; who read it before there were two knows only of one, and then the insertion of the
 * other has not ended yet, and may take effect now. What {@link ChangeSteps} add may hide what a set has stored in a
 * higher slot at the same time; so who finds both takes both out, and nothing stale stays.
 */
final class DuplicateRemoval {

    // Steps, beside that of the request.
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
    private final int[] step;
    /** The slot that is looked at. */
    private final int[] slot;
    /** Whether the request has taken out a slot. */
    private final boolean[] doubled;

    DuplicateRemoval(
            RequestColumns operations,
            RequestPoster posts,
            RequestSink ending,
            ProbeBuffer probe,
            Reclaimer reclaimer,
            MapSessionCounts counts) {
        this.operations = operations;
        this.posts = posts;
        this.ending = ending;
        this.probe = probe;
        this.reclaimer = reclaimer;
        this.counts = counts;
        step = new int[operations.count];
        slot = new int[operations.count];
        doubled = new boolean[operations.count];
    }

    /** The insertion is done, and the bucket was read behind it. */
    void begin(int place) {
        doubled[place] = false;
        look(place);
    }

    /** What the last step posted has come back. */
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

    /** Looks at slots below one, until there are two that have the key, of which the request's is the higher. */
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

    /** The block, if it is one, is the services' to find. */
    private void removeUnreadable(int place) {
        counts.add(MapSessionCounts.UNLINKED);
        step[place] = UNREADABLE;
        posts.swap(place, slot[place], Bucket.word(operations.bucket(place), slot[place]), SlotWord.EMPTY);
    }

    /** One more slot that has the key: the first that is found is the highest. */
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

    /** No two slots have the key, and at most this one has. */
    private void settled(int place, int last) {
        if (doubled[place] && last != Bucket.NONE) {
            operations.slot[place] = last;
            operations.word[place] = Bucket.word(operations.bucket(place), last);
            step[place] = SURVIVOR;
            posts.readHeader(place, BlockFormat.HEADER_BYTES);
        } else {
            ending.end(place, KvStatus.DONE);
        }
    }

    /** What is left of two slots may have hidden what was set: then nothing is. */
    private void survived(int place) {
        long head = operations.head(place);
        if (operations.headIsOfWord(place)
                && BlockFormat.hash(NativeMemory.ALL, head) == operations.hash[place]
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

    /** The request ends otherwise. */
    void abandon(int place) {
        if (step[place] == PROBE) {
            probe.give();
        }
    }
}
