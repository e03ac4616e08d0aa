package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.AccessRecords;
import io.farheap.kv.eviction.SampledEviction;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * The first steps of a request that stores an object: it takes room for its block and for the pieces of its value,
 * WRITEs the pieces, and then posts in one list the WRITE of the block and the READ of the key's bucket. Nothing is
 * taken while the bucket's server cannot be reached. A set of a key to whose object the process has a pointer READs no
 * bucket: the list has the compare-and-swap of the slot's word instead. The numbers of these steps are below
 * {@link #BLOCK_STEPS}; those of {@link SetSteps}, which follow, are not.
 */
public final class BlockWrite {

    private static final int ROOM = RequestColumns.OWN_STEPS;
    private static final int BUCKET = RequestColumns.OWN_STEPS + 1;
    private static final int PIECE_ROOM = RequestColumns.OWN_STEPS + 2;
    private static final int PIECES = RequestColumns.OWN_STEPS + 3;
    /** Waits for a connection to the server of its key's bucket, without a block. */
    private static final int START = RequestColumns.OWN_STEPS + 4;

    /**
     * Writes the block and swaps the word of the key's slot, both in one list, by a pointer. {@link SetSteps} continues
     * with that.
     */
    static final int POINTER = RequestColumns.OWN_STEPS + 5;

    static final int BLOCK_STEPS = RequestColumns.OWN_STEPS + 6;

    private static final MemorySegment ALL = NativeMemory.ALL;

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final RequestSink ending;
    private final FailedRequestBlocks doubts;
    private final SampledEviction room;
    private final BlockAllocator allocator;
    private final ValueWriter writer;
    private final AccessRecords records;
    /** By request: the units of its block, and the bytes of the block that are used. */
    private final int[] units;

    public final int extensionBytes;
    final int[] used;
    final long[] expirySeconds;
    /** By request: whether it knows the slot of its word by a pointer, and has no copy of the bucket. */
    final boolean[] byPointer;
    /** By request that does: whether the slot may have an expiry. */
    final boolean[] expires;

    private final PointerCache pointers;
    private final PointerCache.Found pointer = new PointerCache.Found();
    /** Of this session's updates by pointers. */
    final PointerLosses losses = new PointerLosses();

    private final VersionNumbers versions;
    private final BlockChecksum checksum;

    BlockWrite(MapSessionParts parts) {
        operations = parts.operations();
        posts = parts.posts();
        ending = parts.ending();
        doubts = parts.doubts();
        room = parts.room();
        allocator = parts.allocator();
        writer = parts.writer();
        records = parts.records();
        units = new int[operations.count];
        used = new int[operations.count];
        expirySeconds = new long[operations.count];
        byPointer = new boolean[operations.count];
        expires = new boolean[operations.count];
        pointers = parts.pointers();
        versions = parts.versions();
        checksum = parts.checksum();
        extensionBytes = records.extensionWords() * Long.BYTES;
    }

    /** The offset in its block at which a request's key begins. */
    public int keyAt() {
        return BlockFormat.keyAt(extensionBytes);
    }

    /** The version of the next object to store; a request without a version ends when it begins. */
    public long nextVersion() {
        return versions.next();
    }

    /**
     * Prepares the head of the block that a request stores. Its key is in the block's local copy already, and its value
     * is there or in the writer of pieces.
     *
     * @param version from {@link #nextVersion}
     */
    public void prepare(int place, int keyBytes, int valueBytes, long expiryMillis, long version) {
        boolean index = writer.isOf(place);
        int bytes = index ? ValuePieces.indexBytes(ValuePieces.count(extensionBytes, valueBytes)) : valueBytes;
        units[place] = index
                ? ValuePieces.indexUnits(extensionBytes, keyBytes, valueBytes)
                : BlockFormat.units(extensionBytes, keyBytes, valueBytes);
        used[place] = BlockFormat.valueAt(extensionBytes, keyBytes) + bytes;
        expirySeconds[place] = BlockFormat.seconds(expiryMillis);
        BlockFormat.prepare(
                ALL,
                operations.blockCopy(place),
                index ? BlockFormat.INDEX : BlockFormat.OBJECT,
                expiryMillis,
                extensionBytes,
                keyBytes,
                bytes,
                version);
    }

    /** The first step. */
    void begin(int place) {
        operations.attempts[place] = 0;
        boolean pieces = writer.isOf(place);
        if (BlockFormat.version(ALL, operations.blockCopy(place)) == VersionNumbers.NONE) {
            // Without a number for now, or for good.
            ending.end(place, versions.exhausted() ? KvStatus.NO_VERSION : KvStatus.LOST);
        } else if (!posts.reach().bucket(operations.hash[place])) {
            // Takes no block and evicts nothing for a request that would then fail.
            operations.step[place] = START;
            operations.lost[place] = true;
        } else if (!(pieces ? room.mayHavePieces(writer.valueBytes()) : room.mayHave(SizeClasses.of(units[place])))) {
            noRoom(place);
        } else if (pieces) {
            takePieces(place);
        } else {
            takeBlock(place);
        }
    }

    private void takePieces(int place) {
        while (!writer.hasAll()) {
            int sizeClass = writer.nextClass();
            long block = allocator.take(sizeClass);
            if (block == BlockAllocator.NONE) {
                operations.step[place] = PIECE_ROOM;
                room.begin(place, sizeClass);
                return;
            }
            writer.takes(block);
        }
        operations.step[place] = PIECES;
        writer.write();
    }

    private void findRoomForPiece(int place) {
        long block = room.advance(place);
        if (block != BlockAllocator.NONE) {
            if (writer.restarts()) {
                allocator.giveBack(block);
            } else {
                writer.takes(block);
            }
            takePieces(place);
        } else if (room.none(place)) {
            noRoom(place);
        }
    }

    /** Ends a request as this process has no memory for its value. */
    public void noMemory(int place) {
        ending.end(place, KvStatus.NO_MEMORY);
    }

    /** Ends a request that has not begun, as its process may not use the map any more. */
    public void cutOff(int place) {
        if (writer.isOf(place)) {
            writer.giveBack();
        }
        ending.end(place, KvStatus.LOST);
    }

    private void noRoom(int place) {
        if (writer.isOf(place)) {
            writer.giveBack();
        }
        ending.end(place, KvStatus.NO_ROOM);
    }

    private void wrotePieces(int place) {
        if (!writer.write()) {
            writer.fillIndex();
            takeBlock(place);
        }
    }

    private void takeBlock(int place) {
        int sizeClass = SizeClasses.of(units[place]);
        long block = allocator.take(sizeClass);
        if (block == BlockAllocator.NONE) {
            operations.step[place] = ROOM;
            room.begin(place, sizeClass);
        } else {
            write(place, block);
        }
    }

    private boolean isIndex(int place) {
        return BlockFormat.kind(ALL, operations.blockCopy(place)) == BlockFormat.INDEX;
    }

    private void write(int place, long block) {
        own(place, block);
        records.begin(operations.blockCopy(place));
        BlockFormat.seal(ALL, operations.blockCopy(place), SlotWord.incarnation(block), checksum);
        if (!updateByPointer(place)) {
            write(place);
        }
    }

    /**
     * Posts the whole update, if the process has a pointer to the key's object. It succeeds if the slot still has the
     * pointer's word; then that word's block is the key's, as the pointer is of the request's era.
     */
    private boolean updateByPointer(int place) {
        long hash = operations.hash[place];
        if (operations.kind[place] != RequestColumns.SET
                || !operations.fresh[place]
                || extensionBytes != 0
                || isIndex(place)
                || pointers.isBounded()
                || !pointers.find(hash, operations.era(place), pointer)
                || !losses.mayTry(hash)
                || !posts.mayMark(pointer.word())
                || !pointers.areHeld()) {
            return false;
        }
        operations.slot[place] = pointer.slot();
        operations.word[place] = pointer.word();
        byPointer[place] = true;
        expires[place] = pointer.expires();
        operations.step[place] = POINTER;
        // It is about to lead to a marked block: until there is another one, requests of this process ask the slot.
        pointers.drop(hash, pointer.word());
        posts.writeAndSwap(place, used[place]);
        return true;
    }

    private void write(int place) {
        operations.step[place] = BUCKET;
        byPointer[place] = false;
        posts.beginList();
        posts.readBucket(place);
        if (operations.kind[place] != RequestColumns.INCREMENT) {
            posts.writeBlock(place, used[place]);
        }
        posts.endList();
    }

    /**
     * Gives a block that was taken to the request. The request's columns name it before the allocator forgets it, so
     * another thread that collects held blocks finds it at each moment.
     */
    void own(int place, long block) {
        operations.block[place] = named(place, block);
        operations.described[place] = false;
        operations.writes(place, operations.block[place]);
        allocator.emptyHand();
    }

    /**
     * The word with which a slot names a block for the request's key. If the key is known to this process, its pointer
     * will be kept, and so the word says at once that there are pointers, unless they count for a time.
     */
    private long named(int place, long block) {
        long word = SlotWord.naming(block, KeyHash.fingerprint(operations.hash[place]));
        if (isIndex(place)) {
            return SlotWord.index(word);
        }
        boolean keeps = !pointers.isBounded() && pointers.knows(operations.hash[place]);
        return keeps ? SlotWord.withPointers(word) : word;
    }

    /** @return whether these were the last: the block is written, and the bucket is there */
    boolean advance(int place) {
        switch (operations.step[place]) {
            case ROOM -> findRoom(place);
            case BUCKET -> {
                return true;
            }
            case PIECE_ROOM -> findRoomForPiece(place);
            case PIECES -> wrotePieces(place);
            default -> throw new IllegalStateException("step " + operations.step[place]);
        }
        return false;
    }

    private void findRoom(int place) {
        long block = room.advance(place);
        if (block != BlockAllocator.NONE && writer.isOf(place) && writer.restarts()) {
            allocator.giveBack(block);
            takePieces(place);
        } else if (block != BlockAllocator.NONE) {
            write(place, block);
        } else if (room.none(place)) {
            noRoom(place);
        }
    }

    /** Gives the request's blocks back: no slot names them, and none will. */
    void giveBack(int place) {
        if (operations.described[place]) {
            // Under its next incarnation: for the present one, a slot may have this key's hash.
            allocator.reclaim(operations.block[place]);
        } else {
            allocator.giveBack(operations.block[place]);
        }
        if (writer.isOf(place)) {
            writer.giveBack();
        }
    }

    /**
     * As {@link RequestSteps#again}.
     *
     * @return false if the request is beyond these steps: then it must {@linkplain #writeAgain write} its block again
     */
    boolean again(int place) {
        switch (operations.step[place]) {
            case START -> begin(place);
            case ROOM -> takeBlock(place);
            case PIECE_ROOM -> takePieces(place);
            case PIECES -> {
                writer.rewind();
                takePieces(place);
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    /**
     * Continues from the step that reads the bucket; no slot names the request's block, except perhaps as a claim.
     *
     * @param claimed whether a slot may name it as a claim
     */
    void writeAgain(int place, boolean claimed) {
        if (claimed || posts.reach().block(operations.block[place])) {
            write(place);
        } else {
            doubts.drop(place);
            takeBlock(place);
        }
    }

    /** A connection failed during a step: gives back what the step has taken. */
    void leaveStep(int place) {
        if (operations.step[place] == ROOM || operations.step[place] == PIECE_ROOM) {
            room.abandon(place);
        }
    }
}
