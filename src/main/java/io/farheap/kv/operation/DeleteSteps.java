package io.farheap.kv.operation;

import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;

/**
 * A delete: a READ of the key's bucket, and a compare-and-swap that empties its slot, which is the moment at which it
 * takes effect. The block is read before, and shows whether the slot is the key's and whether the object had expired;
 * then nothing was deleted. A slot that may be the key's and whose block cannot be read is emptied too: another process
 * may be able to read the block.
 */
public final class DeleteSteps implements RequestSteps {

    private static final int BUCKET = RequestColumns.OWN_STEPS;
    private static final int PROBE = RequestColumns.OWN_STEPS + 1;
    private static final int SWAP = RequestColumns.OWN_STEPS + 2;
    /** Reads the slot to see whether the compare-and-swap, whose outcome is unknown, has emptied it. */
    private static final int RESOLVE = RequestColumns.OWN_STEPS + 3;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final RequestSink ending;
    private final FailedRequestBlocks doubts;
    private final Reclaimer reclaimer;
    private final MapClock clock;
    private final MapSessionCounts counts;
    private final PointerCache pointers;
    private final BlockChecksum checksum;
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
        pointers = parts.pointers();
        checksum = parts.checksum();
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
            case BUCKET -> look(place, 0);
            case PROBE -> probed(place);
            case RESOLVE -> resolved(place);
            default -> swapped(place);
        }
    }

    /** @param from slots before this one have been looked at */
    private void look(int place, int from) {
        long bucket = operations.bucket(place);
        int slot = Bucket.find(bucket, operations.hash[place], from);
        operations.passed[place] &= from > 0;
        if (slot == Bucket.NONE) {
            ending.end(place, operations.passed[place] ? KvStatus.LOST : KvStatus.ABSENT);
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
            look(place, operations.slot[place] + 1);
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
        long again = posts.swapAgain(place, operations.word[place]);
        if (again != SlotWord.EMPTY) {
            operations.word[place] = again;
            swap(place, broken[place]);
            return;
        }
        if (posts.found(place) != operations.word[place]) {
            counts.add(MapSessionCounts.SWAPS_LOST);
            readBucket(place);
            return;
        }
        if (broken[place]) {
            // If it names a block at all, the services find that one. The key may be in another slot.
            counts.add(MapSessionCounts.UNLINKED);
            readBucket(place);
            return;
        }
        pointers.forget(operations.hash[place]);
        reclaimer.reclaim(operations.word[place]);
        boolean deletes = !clock.expired(BlockFormat.expiryMillis(NativeMemory.ALL, operations.blockCopy(place)));
        ending.end(place, deletes ? KvStatus.DONE : KvStatus.ABSENT);
    }

    @Override
    public void again(int place) {
        boolean isDelete = operations.step[place] == SWAP && !broken[place];
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
        long now = Bucket.word(operations.bucket(place), operations.slot[place]);
        if (SlotWord.isSame(now, operations.word[place])) {
            doubts.swapKnown(place);
            look(place, 0);
        } else {
            ending.end(place, KvStatus.LOST);
        }
    }

    @Override
    public void abandon(int place) {
        if (operations.step[place] == PROBE || operations.step[place] == SWAP && broken[place]) {
            doubts.leave(place);
            operations.passes(place);
            look(place, operations.slot[place] + 1);
        } else {
            ending.end(place, KvStatus.LOST);
        }
    }
}
