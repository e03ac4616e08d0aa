package io.farheap.kv.operation;

import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;

/**
 * A delete: a READ of the key's bucket, and a compare-and-swap that empties its slot, which is the moment at which it
 * takes effect. If several slots have the key, the highest is emptied first, as {@link DuplicateRemoval} requires, and
 * the lowest, which is the key's, decides the answer: of two deletes that share the slots between them, one has removed
 * the object. The blocks are read before, and show which slots have the key and whether the object had expired; then
 * nothing was deleted. A slot whose block cannot be read is emptied too, and counts as a slot of the key without an
 * object: another process may be able to read the block.
 */
public final class DeleteSteps implements RequestSteps {

    private static final int BUCKET = RequestColumns.OWN_STEPS;
    /** Looks for the lowest slot of the key, if several slots may have it. */
    private static final int LOWEST = RequestColumns.OWN_STEPS + 1;
    /** Looks for the highest. */
    private static final int PROBE = RequestColumns.OWN_STEPS + 2;

    private static final int SWAP = RequestColumns.OWN_STEPS + 3;
    /** Reads the slot to see whether the compare-and-swap, whose outcome is unknown, has emptied it. */
    private static final int RESOLVE = RequestColumns.OWN_STEPS + 4;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final RequestSink ending;
    private final FailedRequestBlocks doubts;
    private final Reclaimer reclaimer;
    private final MapClock clock;
    private final MapSessionCounts counts;
    private final BlockChecksum checksum;
    /** The slot whose removal is the delete. */
    private final int[] lowest;
    /** Whether the slot that it empties names a block that cannot be read. */
    private final boolean[] broken;

    DeleteSteps(MapSessionParts parts) {
        operations = parts.operations();
        posts = parts.posts();
        ending = parts.ending();
        doubts = parts.doubts();
        reclaimer = parts.reclaimer();
        clock = parts.clock();
        counts = parts.counts();
        checksum = parts.checksum();
        lowest = new int[operations.count];
        broken = new boolean[operations.count];
    }

    @Override
    public void begin(int place) {
        operations.attempts[place] = 0;
        readBucket(place);
    }

    private void readBucket(int place) {
        operations.step[place] = BUCKET;
        posts.readBucket(place);
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case BUCKET -> begun(place);
            case LOWEST -> probedLowest(place);
            case PROBE -> probed(place);
            case RESOLVE -> resolved(place);
            default -> swapped(place);
        }
    }

    private void begun(int place) {
        long bucket = operations.bucket(place);
        int slot = Bucket.find(bucket, operations.hash[place], 0);
        lowest[place] = slot;
        if (slot == Bucket.NONE || Bucket.findTwin(bucket, slot, slot) == Bucket.NONE) {
            look(place, SpaceShape.BUCKET_SLOTS);
        } else {
            lookForLowest(place, slot);
        }
    }

    private void lookForLowest(int place, int slot) {
        if (slot == Bucket.NONE) {
            ending.end(place, KvStatus.ABSENT);
            return;
        }
        lowest[place] = slot;
        operations.word[place] = Bucket.word(operations.bucket(place), slot);
        operations.step[place] = LOWEST;
        if (!posts.readBlock(place, operations.word[place])) {
            look(place, SpaceShape.BUCKET_SLOTS);
        }
    }

    private void probedLowest(int place) {
        long word = operations.word[place];
        long block = operations.blockCopy(place);
        if (!BlockFormat.isWhole(NativeMemory.ALL, block, word, checksum)) {
            if (operations.staysBroken(place, word)) {
                look(place, SpaceShape.BUCKET_SLOTS);
            } else {
                readBucket(place);
            }
        } else if (PaddedKeys.equal(block, operations.key[place], operations.keyBytes[place])) {
            look(place, SpaceShape.BUCKET_SLOTS);
        } else {
            lookForLowest(place, Bucket.find(operations.bucket(place), operations.hash[place], lowest[place] + 1));
        }
    }

    /** @param below slots from this one on have been looked at */
    private void look(int place, int below) {
        long bucket = operations.bucket(place);
        int slot = Bucket.findLast(bucket, operations.hash[place], below);
        if (slot == Bucket.NONE || slot < lowest[place]) {
            ending.end(place, KvStatus.ABSENT);
            return;
        }
        operations.slot[place] = slot;
        operations.word[place] = Bucket.word(bucket, slot);
        operations.step[place] = PROBE;
        if (!posts.readBlock(place, operations.word[place])) {
            swap(place, true);
        }
    }

    /** The block shows which key it has, so that the answer is right. */
    private void probed(int place) {
        long word = operations.word[place];
        long block = operations.blockCopy(place);
        boolean whole = BlockFormat.isWhole(NativeMemory.ALL, block, word, checksum);
        if (whole && PaddedKeys.equal(block, operations.key[place], operations.keyBytes[place])) {
            swap(place, false);
        } else if (whole) {
            look(place, operations.slot[place]);
        } else if (operations.staysBroken(place, word)) {
            swap(place, true);
        } else {
            readBucket(place);
        }
    }

    private void swap(int place, boolean unreadable) {
        broken[place] = unreadable;
        operations.step[place] = SWAP;
        posts.swap(place, operations.slot[place], operations.word[place], SlotWord.EMPTY);
    }

    private void swapped(int place) {
        if (posts.found(place) != operations.word[place]) {
            counts.add(MapSessionCounts.SWAPS_LOST);
            readBucket(place);
            return;
        }
        boolean deletes = false;
        if (broken[place]) {
            // If it names a block at all, the services find that one.
            counts.add(MapSessionCounts.UNLINKED);
        } else {
            reclaimer.reclaim(operations.word[place]);
            deletes = !clock.expired(BlockFormat.expiryMillis(NativeMemory.ALL, operations.blockCopy(place)));
        }
        if (operations.slot[place] == lowest[place]) {
            ending.end(place, deletes ? KvStatus.DONE : KvStatus.ABSENT);
        } else {
            look(place, operations.slot[place]);
        }
    }

    @Override
    public void again(int place) {
        boolean isDelete = operations.step[place] == SWAP && operations.slot[place] == lowest[place];
        if (doubts.swapUnknown(place) && (isDelete || operations.step[place] == RESOLVE)) {
            operations.step[place] = RESOLVE;
            posts.readBucket(place);
        } else {
            doubts.leave(place);
            begin(place);
        }
    }

    /** If the slot is unchanged, nothing has been done; else this request may have changed it. */
    private void resolved(int place) {
        if (Bucket.word(operations.bucket(place), operations.slot[place]) == operations.word[place]) {
            doubts.swapKnown(place);
            begun(place);
        } else {
            ending.end(place, KvStatus.LOST);
        }
    }

    @Override
    public void abandon(int place) {
        ending.end(place, KvStatus.LOST);
    }
}
