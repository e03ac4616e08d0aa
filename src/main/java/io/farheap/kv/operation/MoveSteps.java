package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.SampledEviction;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * Moves and evictions, which take objects off a server that is to leave the map, or out of a segment that is being
 * emptied.
 *
 * <p>A move is a READ of the block that a slot names, a WRITE of the same bytes, with the same version and expiry, to a
 * block elsewhere, and a compare-and-swap of the slot's word. As with a touch, nothing changes but the object's place.
 *
 * <p>An eviction is a compare-and-swap that empties the slot.
 */
public final class MoveSteps implements RequestSteps {

    private static final int BLOCK = RequestColumns.OWN_STEPS;
    private static final int ROOM = RequestColumns.OWN_STEPS + 1;
    private static final int WRITTEN = RequestColumns.OWN_STEPS + 2;
    private static final int MOVED = RequestColumns.OWN_STEPS + 3;
    private static final int EVICTED = RequestColumns.OWN_STEPS + 4;
    private static final int BLOCK_AGAIN = RequestColumns.OWN_STEPS + 5;

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final int SLOT_BITS = 4;
    private static final int BUCKET_BITS = Integer.SIZE;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final RequestSink ending;
    private final SpaceMemory space;
    private final SampledEviction room;
    private final BlockAllocator allocator;
    private final Reclaimer reclaimer;
    /** The word that the slot had when it was found; {@link RequestColumns#word} may change while room is made. */
    private final long[] words;

    MoveSteps(MapSessionParts parts, SpaceMemory space) {
        operations = parts.operations();
        posts = parts.posts();
        ending = parts.ending();
        this.space = space;
        room = parts.room();
        allocator = parts.allocator();
        reclaimer = parts.reclaimer();
        words = new long[operations.count];
    }

    /** Encodes a slot of the table as the argument of a request. */
    public static long slot(int region, int bucket, int slot) {
        return ((long) region << BUCKET_BITS | bucket) << SLOT_BITS | slot;
    }

    private int region(int place) {
        return (int) (operations.argument[place] >>> SLOT_BITS + BUCKET_BITS);
    }

    private int bucket(int place) {
        return (int) (operations.argument[place] >>> SLOT_BITS);
    }

    private int slot(int place) {
        return (int) operations.argument[place] & SpaceShape.BUCKET_SLOTS - 1;
    }

    @Override
    public void begin(int place) {
        words[place] = operations.word[place];
        operations.block[place] = BlockAllocator.NONE;
        if (operations.kind[place] == RequestColumns.EVICT || operations.kind[place] == RequestColumns.MAKE_ROOM) {
            operations.step[place] = EVICTED;
            swap(place, SlotWord.EMPTY);
            return;
        }
        operations.step[place] = BLOCK;
        if (SlotWord.isIndex(words[place]) || !posts.readBlock(place, words[place])) {
            ending.end(place, KvStatus.CHANGED);
        }
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case BLOCK -> findBlock(place);
            case ROOM -> findRoom(place);
            case BLOCK_AGAIN -> writeUnlessChanged(place);
            case WRITTEN -> {
                operations.step[place] = MOVED;
                move(place);
            }
            case MOVED -> {
                if (mustSwapAgain(place)) {
                    move(place);
                } else {
                    moved(place);
                }
            }
            case EVICTED -> {
                if (mustSwapAgain(place)) {
                    swap(place, SlotWord.EMPTY);
                    return;
                }
                boolean done = posts.found(place) == words[place];
                if (done) {
                    reclaimer.reclaim(words[place]);
                }
                ending.end(place, done ? KvStatus.DONE : KvStatus.CHANGED);
            }
            default -> throw new IllegalStateException("step " + operations.step[place]);
        }
    }

    /** Whether the compare-and-swap must be repeated; {@link #words} has the word to expect then. */
    private boolean mustSwapAgain(int place) {
        long again = posts.swapAgain(place, words[place]);
        if (again == SlotWord.EMPTY) {
            return false;
        }
        words[place] = again;
        return true;
    }

    private void findBlock(int place) {
        if (!BlockFormat.isWhole(ALL, operations.blockCopy(place), words[place], space.checksum())) {
            ending.end(place, KvStatus.CHANGED);
            return;
        }
        boolean compacts = operations.kind[place] == RequestColumns.COMPACT;
        int sizeClass = SizeClasses.of(SlotWord.units(words[place]));
        long block = compacts ? allocator.take(sizeClass, sizeClass) : allocator.take(sizeClass);
        if (block != BlockAllocator.NONE) {
            own(place, block);
            write(place);
            return;
        }
        operations.step[place] = ROOM;
        if (compacts) {
            room.beginFree(place, sizeClass);
        } else {
            room.begin(place, sizeClass);
        }
        noneUnlessLooking(place);
    }

    /** Ends the request if there is no room and nothing to ask for or evict, which is known at once. */
    private void noneUnlessLooking(int place) {
        if (operations.pending[place] == 0 && room.none(place)) {
            ending.end(place, KvStatus.NO_ROOM);
        }
    }

    /** A request that waits for the services counts as one that has read nothing, so it reads the block again. */
    private void findRoom(int place) {
        long block = room.advance(place);
        if (block != BlockAllocator.NONE) {
            own(place, block);
            operations.step[place] = BLOCK_AGAIN;
            if (!posts.readBlock(place, words[place])) {
                changed(place);
            }
        } else if (room.none(place)) {
            ending.end(place, KvStatus.NO_ROOM);
        }
    }

    private void writeUnlessChanged(int place) {
        if (BlockFormat.isWhole(ALL, operations.blockCopy(place), words[place], space.checksum())) {
            write(place);
        } else {
            changed(place);
        }
    }

    private void changed(int place) {
        allocator.giveBack(operations.block[place]);
        ending.end(place, KvStatus.CHANGED);
    }

    private void own(int place, long block) {
        long named = SlotWord.naming(block, SlotWord.fingerprint(words[place]));
        // Clients that keep pointers to the object will want one to its new block.
        long own = SlotWord.hasPointers(words[place]) ? SlotWord.withPointers(named) : named;
        operations.block[place] = own;
        operations.writes(place, own);
        allocator.emptyHand();
    }

    private void write(int place) {
        long own = operations.block[place];
        long copy = operations.blockCopy(place);
        // Marks the copy as conditional: otherwise a set that finds it in place of the block that it read would take it
        // for a later set's.
        BlockFormat.setConditional(ALL, copy);
        BlockFormat.seal(ALL, copy, SlotWord.incarnation(own), space.checksum());
        operations.step[place] = WRITTEN;
        posts.writeBlock(place, BlockFormat.usedBytes(ALL, copy));
    }

    private void move(int place) {
        int bytes = SlotWord.units(words[place]) * BlockFormat.UNIT_BYTES;
        long hash = BlockFormat.hash(ALL, operations.blockCopy(place), bytes, space.keyHash());
        posts.beginList();
        posts.writeHash(place, space.region(region(place)), space.shape().bucketAt(bucket(place)), slot(place), hash);
        swap(place, operations.block[place]);
        posts.endList();
    }

    private void swap(int place, long value) {
        posts.swap(
                place,
                space.region(region(place)),
                space.shape().bucketAt(bucket(place)),
                slot(place),
                words[place],
                value);
    }

    private void moved(int place) {
        boolean done = posts.found(place) == words[place];
        if (done) {
            allocator.reclaim(words[place]);
            ending.end(place, KvStatus.DONE);
        } else {
            // Under its next incarnation: for the present one, the slot may have the object's hash.
            allocator.reclaim(operations.block[place]);
            ending.end(place, KvStatus.CHANGED);
        }
    }

    /** A move does not continue: its caller looks at the table again. */
    @Override
    public boolean goesOn() {
        return false;
    }

    @Override
    public void again(int place) {
        abandon(place);
    }

    @Override
    public void abandon(int place) {
        if (operations.step[place] == MOVED && posts.found(place) == words[place]) {
            moved(place);
            return;
        }
        if (operations.step[place] == ROOM) {
            room.abandon(place);
        }
        ending.end(place, KvStatus.LOST);
    }
}
