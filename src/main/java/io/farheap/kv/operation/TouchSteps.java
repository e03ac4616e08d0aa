package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.MapClock;

/**
 * A touch: READs of the key's bucket and block, a WRITE of the same object with another expiry under the same version,
 * and a compare-and-swap of the slot's word, at which it takes effect. Writing the expiry alone would be less work, but
 * a request that copies the expiry at that time, as an increment does, would lose the new one.
 */
public final class TouchSteps extends SetSteps {

    private static final int BLOCK = MORE_STEPS;
    private static final int TOUCH_ROOM = MORE_STEPS + 1;
    private static final int WRITTEN = MORE_STEPS + 2;

    private final MapClock clock;

    TouchSteps(MapSessionParts parts) {
        super(parts);
        clock = parts.clock();
    }

    @Override
    public void begin(int place) {
        operations.attempts[place] = 0;
        operations.block[place] = BlockAllocator.NONE;
        lookAnew(place);
    }

    @Override
    void leaveStep(int place) {
        if (operations.step[place] == TOUCH_ROOM) {
            room.abandon(place);
            operations.block[place] = BlockAllocator.NONE;
        } else {
            super.leaveStep(place);
        }
    }

    @Override
    void goOnUnnamed(int place) {
        lookAnew(place);
    }

    @Override
    boolean isClaimed(int place) {
        return false;
    }

    /** A touch inserts nothing. */
    @Override
    void inserted(int place) {
        throw new IllegalStateException("step " + operations.step[place]);
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case BLOCK -> judge(place);
            case TOUCH_ROOM -> findRoom(place);
            case WRITTEN -> update(place);
            default -> super.advance(place);
        }
    }

    @Override
    void absent(int place) {
        refuse(place);
    }

    @Override
    void tookOut(int place) {
        refuse(place);
    }

    /** Frees the old block alone: the pieces, if there are any, belong to the new block. */
    @Override
    void reclaimReplaced(long word) {
        allocator.reclaim(word);
    }

    private void refuse(int place) {
        if (operations.block[place] != BlockAllocator.NONE) {
            doubts.drop(place);
        }
        ending.end(place, KvStatus.ABSENT);
    }

    @Override
    void found(int place) {
        operations.step[place] = BLOCK;
        if (!posts.readBlock(place, operations.word[place])) {
            broken(place);
        }
    }

    /** A touch reads the block in each case. */
    @Override
    void probe(int place) {
        found(place);
    }

    @Override
    boolean mayBeOfAnother(int place) {
        return operations.step[place] == BLOCK || super.mayBeOfAnother(place);
    }

    private void judge(int place) {
        long word = operations.word[place];
        long block = operations.blockCopy(place);
        int units = SlotWord.units(word);
        if (!BlockFormat.isWhole(ALL, block, word, checksum)) {
            brokenIfItStaysSo(place);
        } else if (!PaddedKeys.equal(block, operations.key[place], operations.keyBytes[place])) {
            look(place, operations.slot[place] + 1);
        } else if (clock.expired(BlockFormat.expiryMillis(ALL, block))) {
            takeOut(place);
        } else {
            rewrite(place, units);
        }
    }

    private void rewrite(int place, int units) {
        long own = operations.block[place];
        if (own == BlockAllocator.NONE || SlotWord.units(own) < units) {
            if (own != BlockAllocator.NONE) {
                // If there is no other block at once, the request has none until then.
                doubts.drop(place);
            }
            int sizeClass = SizeClasses.of(units);
            own = allocator.take(sizeClass);
            if (own == BlockAllocator.NONE) {
                operations.step[place] = TOUCH_ROOM;
                operations.block[place] = BlockAllocator.NONE;
                room.begin(place, sizeClass);
                return;
            }
        }
        blockWrite.own(place, own);
        long block = operations.blockCopy(place);
        blockWrite.used[place] = BlockFormat.usedBytes(ALL, block);
        blockWrite.expirySeconds[place] = BlockFormat.seconds(operations.argument[place]);
        BlockFormat.setExpiry(ALL, block, operations.argument[place]);
        BlockFormat.seal(ALL, block, SlotWord.incarnation(own), checksum);
        operations.step[place] = WRITTEN;
        posts.writeBlock(place, blockWrite.used[place]);
    }

    /** The evictions have taken some time, so the key is looked up once more. */
    private void findRoom(int place) {
        long block = room.advance(place);
        if (block != BlockAllocator.NONE) {
            blockWrite.own(place, block);
            lookAnew(place);
        } else if (room.none(place)) {
            ending.end(place, KvStatus.NO_ROOM);
        }
    }
}
