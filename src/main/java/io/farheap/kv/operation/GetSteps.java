package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.AccessRecords;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * A get. By a {@linkplain PointerCache pointer} it is one READ, of the block, and takes effect when the block's mark is
 * read: a block that is not marked is the key's at that moment, as a request that takes it out of its slot marks it.
 * Any other block says only that the slot must be asked.
 *
 * <p>Without a pointer it is a READ of the key's bucket, and one of the block that its slot names. It takes effect at
 * the former: if the block has the incarnation that the slot named, it was the key's block at that moment. If not, the
 * block was reused since, so the slot has changed, and the bucket is read again. An expired object is removed before
 * the get reports the key as absent; so no request that found the object earlier brings it back.
 *
 * <p>The first get that finds a key notes it in the process's cache of pointers. The next one says in the slot's word
 * that there are pointers to the block, unless that is said already or pointers count for a time, and keeps one.
 */
public final class GetSteps implements RequestSteps {

    private static final int BUCKET = RequestColumns.OWN_STEPS;
    private static final int BLOCK = RequestColumns.OWN_STEPS + 1;
    /** Removes an expired object, or a slot that names a block which cannot be read. */
    private static final int TAKE_OUT = RequestColumns.OWN_STEPS + 2;
    /** Waits for its turn to read the pieces of a value. */
    private static final int TURN = RequestColumns.OWN_STEPS + 3;

    private static final int PIECES = RequestColumns.OWN_STEPS + 4;
    /** Reads the block of a pointer. */
    private static final int POINTER = RequestColumns.OWN_STEPS + 5;
    // An object that stays marked is stored again.
    private static final int COPIED = RequestColumns.OWN_STEPS + 6;
    private static final int MOVED = RequestColumns.OWN_STEPS + 7;

    /**
     * One of 64 gets with a pointer asks the slot, whose time of access and frequency other clients write too: that for
     * which these bits of a sum are 0. The addend is that of the golden ratio, so among the gets of one key are as
     * many, however its gets alternate with those of others.
     */
    private static final int ASK_SHIFT = 58;

    private static final long ASK_ADDEND = 0x9E3779B97F4A7C15L;

    private static final MemorySegment ALL = NativeMemory.ALL;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final RequestSink ending;
    private final FailedRequestBlocks doubts;
    private final StaleObjectRemoval takeOut;
    private final ValueReader reader;
    private final AccessRecords records;
    private final MapClock clock;
    private final MapSessionCounts counts;
    private final BlockChecksum checksum;
    private final BlockAllocator allocator;
    private final PointerCache pointers;
    private final PointerCache.Found pointer = new PointerCache.Found();
    private long asks;

    GetSteps(MapSessionParts parts) {
        operations = parts.operations();
        posts = parts.posts();
        ending = parts.ending();
        doubts = parts.doubts();
        takeOut = parts.takeOut();
        reader = parts.reader();
        records = parts.records();
        clock = parts.clock();
        counts = parts.counts();
        checksum = parts.checksum();
        allocator = parts.allocator();
        pointers = parts.pointers();
    }

    @Override
    public void begin(int place) {
        operations.attempts[place] = 0;
        if (!readByPointer(place)) {
            readBucket(place);
        }
    }

    /** Reads the block of the key's pointer, if there is one that may be used. */
    private boolean readByPointer(int place) {
        if (!operations.fresh[place]
                || !pointers.find(operations.hash[place], operations.era(place), pointer)
                || (asks += ASK_ADDEND) >>> ASK_SHIFT == 0) {
            return false;
        }
        operations.slot[place] = pointer.slot();
        operations.word[place] = pointer.word();
        operations.step[place] = POINTER;
        return posts.readBlock(place, pointer.word());
    }

    private void checkByPointer(int place) {
        long block = operations.blockCopy(place);
        long word = operations.word[place];
        if (!BlockFormat.isLive(ALL, block, SlotWord.incarnation(word))
                || !BlockFormat.isWhole(ALL, block, word, checksum)
                || !PaddedKeys.equal(block, operations.key[place], operations.keyBytes[place])
                || clock.expired(BlockFormat.expiryMillis(ALL, block))
                || !pointers.areHeld()) {
            counts.add(MapSessionCounts.STALE_POINTERS);
            pointers.drop(operations.hash[place], word);
            readBucket(place);
        } else {
            counts.add(MapSessionCounts.POINTER_HITS);
            records.accessedByPointer(operations.hash[place], operations.slot[place], block, word);
            ending.end(place, KvStatus.DONE);
        }
    }

    private void readBucket(int place) {
        operations.step[place] = BUCKET;
        posts.readBucket(place);
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case BUCKET -> readBlockOf(place, 0);
            case BLOCK -> check(place);
            case TAKE_OUT -> takenOut(place);
            case TURN -> readPieces(place);
            case PIECES -> join(place);
            case POINTER -> checkByPointer(place);
            case COPIED -> {
                operations.step[place] = MOVED;
                move(place);
            }
            case MOVED -> {
                if (posts.heldBack(place)) {
                    move(place);
                } else {
                    moved(place);
                }
            }
            default -> throw new IllegalStateException("step " + operations.step[place]);
        }
    }

    /** @param from slots before this one have been looked at */
    private void readBlockOf(int place, int from) {
        long bucket = operations.bucket(place);
        int slot = Bucket.find(bucket, operations.hash[place], from);
        operations.passed[place] &= from > 0;
        if (slot == Bucket.NONE) {
            if (operations.passed[place]) {
                ending.end(place, KvStatus.LOST);
                return;
            }
            records.missed(bucket, operations.hash[place]);
            pointers.asked(operations.hash[place], SlotWord.EMPTY);
            ending.end(place, KvStatus.ABSENT);
            return;
        }
        long word = Bucket.word(bucket, slot);
        operations.slot[place] = slot;
        operations.word[place] = word;
        operations.step[place] = BLOCK;
        if (!posts.readBlock(place, word)) {
            unlink(place);
        }
    }

    private void check(int place) {
        long block = operations.blockCopy(place);
        long word = operations.word[place];
        int slot = operations.slot[place];
        if (!BlockFormat.isWhole(ALL, block, word, checksum)) {
            readAgain(place);
        } else if (!PaddedKeys.equal(block, operations.key[place], operations.keyBytes[place])) {
            readBlockOf(place, slot + 1);
        } else if (clock.expired(BlockFormat.expiryMillis(ALL, block))) {
            operations.step[place] = TAKE_OUT;
            takeOut.begin(place);
        } else if (SlotWord.isIndex(word)) {
            readPieces(place);
        } else {
            found(place);
        }
    }

    /** A block is not whole: it was reused, so the slot has changed, or it is broken. */
    private void readAgain(int place) {
        if (operations.staysBroken(place, operations.word[place])) {
            unlink(place);
        } else {
            counts.add(MapSessionCounts.READ_AGAIN);
            readBucket(place);
        }
    }

    private void found(int place) {
        pointers.asked(operations.hash[place], operations.word[place]);
        ObjectMetadata known = records.accessed(
                operations.hash[place],
                operations.bucket(place),
                operations.slot[place],
                operations.blockCopy(place),
                operations.word[place]);
        if (!keepPointer(place, known) || !storeAgain(place)) {
            ending.end(place, KvStatus.DONE);
        }
    }

    /**
     * Keeps a pointer to the object that was found, if it has been found before.
     *
     * @return whether the object should be stored again, as it stays marked
     */
    private boolean keepPointer(int place, ObjectMetadata known) {
        long hash = operations.hash[place];
        long word = operations.word[place];
        if (SlotWord.isIndex(word) || !operations.fresh[place]) {
            return false;
        }
        if (!BlockFormat.isLive(ALL, operations.blockCopy(place), SlotWord.incarnation(word))) {
            return pointers.meetsMarked(hash, word);
        }
        if (!pointers.note(hash)) {
            return false;
        }
        int slot = operations.slot[place];
        // A set with a life says so in the slot only after it has ended.
        boolean expires = Bucket.expirySeconds(operations.bucket(place), slot) != 0
                || BlockFormat.expiryMillis(ALL, operations.blockCopy(place)) != 0;
        if (SlotWord.hasPointers(word) || pointers.isBounded()) {
            pointers.keep(hash, word, slot, expires, operations.era(place), operations.asked[place], known);
        } else {
            pointers.noteAccesses(hash, known);
            posts.hintPointers(place, slot, expires, word);
        }
        return false;
    }

    /**
     * Stores an object again that stays marked: the client that marked it has died before it changed the slot. Nothing
     * takes a mark back, since the other client may only be slow.
     *
     * @return false if there is no block for it at once; a later get may have one
     */
    private boolean storeAgain(int place) {
        long word = operations.word[place];
        int sizeClass = SizeClasses.of(SlotWord.units(word));
        long block = allocator.take(sizeClass);
        if (block == BlockAllocator.NONE) {
            allocator.askAhead(sizeClass);
            return false;
        }
        long own = SlotWord.withPointers(SlotWord.naming(block, SlotWord.fingerprint(word)));
        operations.block[place] = own;
        operations.described[place] = false;
        operations.writes(place, own);
        allocator.emptyHand();
        long copy = operations.blockCopy(place);
        BlockFormat.setConditional(ALL, copy);
        BlockFormat.seal(ALL, copy, SlotWord.incarnation(own), checksum);
        operations.step[place] = COPIED;
        posts.writeBlock(place, BlockFormat.usedBytes(ALL, copy));
        return true;
    }

    private void move(int place) {
        posts.beginList();
        posts.writeHash(place, operations.slot[place]);
        posts.swap(place, operations.slot[place], operations.word[place], operations.block[place]);
        posts.endList();
    }

    private void moved(int place) {
        boolean done = posts.found(place) == operations.word[place];
        // The block that is free now, under its next incarnation: of its own one, the slot may have the key's hash.
        allocator.reclaim(done ? operations.word[place] : operations.block[place]);
        ending.end(place, KvStatus.DONE);
    }

    /** A connection failed while the object was stored again, after it had been found. */
    private void leaveMove(int place) {
        if (operations.step[place] == MOVED && posts.found(place) == operations.word[place]) {
            moved(place);
        } else {
            doubts.lost(place);
            ending.end(place, KvStatus.DONE);
        }
    }

    private boolean moves(int place) {
        return operations.step[place] == COPIED || operations.step[place] == MOVED;
    }

    private void readPieces(int place) {
        operations.step[place] = TURN;
        if (!reader.take(place)) {
            return;
        }
        operations.step[place] = PIECES;
        switch (reader.begin()) {
            case ValueReader.BEGUN -> reader.readMore();
            case ValueReader.NO_MEMORY -> ending.end(place, KvStatus.NO_MEMORY);
            default -> {
                reader.release();
                readAgain(place);
            }
        }
    }

    private void join(int place) {
        if (reader.readMore()) {
            return;
        }
        if (reader.join()) {
            found(place);
        } else {
            reader.release();
            readAgain(place);
        }
    }

    private void takenOut(int place) {
        switch (takeOut.end(place)) {
            case StaleObjectRemoval.DONE -> {
                pointers.asked(operations.hash[place], SlotWord.EMPTY);
                ending.end(place, KvStatus.ABSENT);
            }
            case StaleObjectRemoval.GOES_ON -> {}
            default -> readBucket(place);
        }
    }

    /** Empties a slot that names a block which cannot be read: the slot may have been the key's. */
    private void unlink(int place) {
        operations.step[place] = TAKE_OUT;
        takeOut.beginBroken(place);
    }

    @Override
    public void again(int place) {
        if (moves(place)) {
            leaveMove(place);
            return;
        }
        if (reader.isOf(place)) {
            reader.release();
        }
        dropPointer(place);
        doubts.leave(place);
        begin(place);
    }

    @Override
    public void abandon(int place) {
        if (moves(place)) {
            leaveMove(place);
        } else if (operations.step[place] == POINTER) {
            // The slot may name a block elsewhere by now, on a server that does not refuse this process's requests.
            operations.isOver(place, RequestColumns.REFUSED);
            dropPointer(place);
            readBucket(place);
        } else if (operations.step[place] == BLOCK || operations.step[place] == TAKE_OUT && takeOut.isOfBroken(place)) {
            doubts.leave(place);
            operations.passes(place);
            readBlockOf(place, operations.slot[place] + 1);
        } else {
            ending.end(place, KvStatus.LOST);
        }
    }

    private void dropPointer(int place) {
        if (operations.step[place] == POINTER) {
            pointers.drop(operations.hash[place], operations.word[place]);
        }
    }
}
