package io.farheap.kv;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * A set: room for its block; one list with a READ of the key's bucket and the WRITE of the block; the compare-and-swap
 * that makes the slot name it. An insertion then writes the slot's metadata and reads the bucket once more, for
 * {@link Settling}.
 *
 * <p><b>Where it takes effect.</b> At its compare-and-swap, but for two cases, where another set of the key has taken
 * effect since this one read the bucket, and this one counts as having taken effect right before it: an update whose
 * swap found that the key's slot has the key by another word meanwhile, of a set; and an insertion that finds the key
 * in a lower slot.
 *
 * <p>A slot that may be the key's, and whose block cannot be read, is emptied first: another process may be able to.
 */
abstract class SetSteps implements Steps {

    private static final int ROOM = Operations.OWN_STEPS;
    private static final int BUCKET = Operations.OWN_STEPS + 1;
    private static final int SWAP = Operations.OWN_STEPS + 2;
    private static final int SWAP_LOST = Operations.OWN_STEPS + 3;
    private static final int INSERT = Operations.OWN_STEPS + 4;
    private static final int INSERTED = Operations.OWN_STEPS + 5;
    private static final int SETTLE = Operations.OWN_STEPS + 6;
    private static final int PROBE = Operations.OWN_STEPS + 7;
    static final int LOOK = Operations.OWN_STEPS + 8;
    private static final int WINNER = Operations.OWN_STEPS + 9;
    private static final int PIECE_ROOM = Operations.OWN_STEPS + 10;
    private static final int PIECES = Operations.OWN_STEPS + 11;
    private static final int TAKE_OUT = Operations.OWN_STEPS + 12;
    static final int MORE_STEPS = Operations.OWN_STEPS + 13;

    static final MemorySegment ALL = NativeMemory.ALL;
    /** Of so many insertions into full buckets one takes over another's claim, if there is one. */
    private static final int CLAIM_EVERY = 16;

    final Operations operations;
    final Posts posts;
    final Ending ending;
    final Room room;
    private final Probe probe;
    private final Settling settling;
    final BlockAllocator allocator;
    final Reclaimer reclaimer;
    private final TakeOut takeOut;
    final ValueWriter writer;
    final AccessRecords records;
    final Counts counts;
    /** What each request waits for room for, or writes: the units of its block, and the bytes of it that are used. */
    private final int[] units;
    /** Whether the request's slot is taken for the key's by its hash alone. */
    private final boolean[] byHash;

    final int extensionBytes;
    final int[] used;
    final long[] expirySeconds;

    private final long version;
    private long sets;
    private int fullBuckets;

    SetSteps(SetParts parts) {
        operations = parts.operations();
        posts = parts.posts();
        ending = parts.ending();
        room = parts.room();
        probe = parts.probe();
        allocator = parts.allocator();
        reclaimer = parts.reclaimer();
        takeOut = parts.takeOut();
        writer = parts.writer();
        records = parts.records();
        counts = parts.counts();
        units = new int[operations.count];
        byHash = new boolean[operations.count];
        used = new int[operations.count];
        expirySeconds = new long[operations.count];
        settling = new Settling(operations, posts, ending, probe, reclaimer, counts);
        version = parts.session() << 40;
        extensionBytes = records.extensionWords() * Long.BYTES;
    }

    /** Where in its block a request's key begins. */
    int keyAt() {
        return BlockFormat.keyAt(extensionBytes);
    }

    /** Says what a request stores; its key is in its block already, and its value there or at the writer of pieces. */
    void prepare(int place, int keyBytes, int valueBytes, long expiryMillis) {
        boolean index = writer.isOf(place);
        int bytes = index ? Pieces.indexBytes(Pieces.count(extensionBytes, valueBytes)) : valueBytes;
        units[place] = index
                ? Pieces.indexUnits(extensionBytes, keyBytes, valueBytes)
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
                version | ++sets,
                operations.hash[place]);
    }

    @Override
    public void begin(int place) {
        operations.attempts[place] = 0;
        boolean pieces = writer.isOf(place);
        if (!(pieces ? room.mayHavePieces(writer.valueBytes()) : room.mayHave(SizeClasses.of(units[place])))) {
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
        BlockFormat.seal(ALL, operations.blockCopy(place), SlotWord.incarnation(block));
        operations.step[place] = BUCKET;
        posts.beginList();
        posts.readBucket(place);
        if (operations.kind[place] != Operations.INCREMENT) {
            posts.writeBlock(place, used[place]);
        }
        posts.endList();
    }

    /** A block that was taken is the request's from now on, which says so before the allocator forgets it. */
    final void own(int place, long block) {
        operations.block[place] = named(place, block);
        operations.writes(place, operations.block[place]);
        allocator.emptyHand();
    }

    /** The word of a slot that names a block for the request's key. */
    final long named(int place, long block) {
        long word = SlotWord.naming(block, KeyHash.fingerprint(operations.hash[place]));
        return isIndex(place) ? SlotWord.index(word) : word;
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case ROOM -> findRoom(place);
            case BUCKET -> look(place, 0);
            case SWAP -> swapped(place);
            case SWAP_LOST -> lookAgain(place);
            case INSERT -> inserted(place);
            case INSERTED -> settle(place);
            case SETTLE -> settling.advance(place);
            case PROBE -> probed(place);
            case LOOK -> look(place, 0);
            case WINNER -> lost(place);
            case PIECE_ROOM -> findRoomForPiece(place);
            case PIECES -> wrotePieces(place);
            case TAKE_OUT -> takeOutMore(place);
            default -> throw new IllegalStateException("step " + operations.step[place]);
        }
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

    /** The bucket is there: an update where the key is in it, else an insertion. */
    void look(int place, int from) {
        long bucket = operations.bucket(place);
        long hash = operations.hash[place];
        int slot = Bucket.find(bucket, hash, from);
        if (slot == Bucket.NONE) {
            absent(place);
            return;
        }
        operations.slot[place] = slot;
        operations.word[place] = Bucket.word(bucket, slot);
        byHash[place] = Bucket.sure(bucket, slot, hash);
        if (byHash[place]) {
            found(place);
        } else {
            probe(place);
        }
    }

    /** The bucket has no slot of the key. */
    abstract void absent(int place);

    /** The request's slot and word are the key's. */
    abstract void found(int place);

    /** What the request found is taken out: its time was over, or it could not be read. */
    abstract void tookOut(int place);

    /** The object of the request's slot is over. */
    final void takeOut(int place) {
        operations.step[place] = TAKE_OUT;
        takeOut.begin(place);
    }

    /** What the request's slot names, which may be the key's, cannot be read. */
    void broken(int place) {
        operations.step[place] = TAKE_OUT;
        takeOut.beginBroken(place);
    }

    private void takeOutMore(int place) {
        switch (takeOut.advance(place)) {
            case TakeOut.DONE -> tookOut(place);
            case TakeOut.CHANGED -> lookAnew(place);
            default -> {}
        }
    }

    final void lookAnew(int place) {
        operations.step[place] = LOOK;
        posts.readBucket(place);
    }

    final void update(int place) {
        operations.step[place] = SWAP;
        if (extensionBytes == 0 && !isUnproven(place)) {
            posts.swap(place, operations.slot[place], operations.word[place], operations.block[place]);
            return;
        }
        posts.beginList();
        posts.readReplaced(place, isUnproven(place) ? headBytes(place) : keyAt());
        posts.swap(place, operations.slot[place], operations.word[place], operations.block[place]);
        posts.endList();
    }

    /** What says whose a block is. */
    final int headBytes(int place) {
        return keyAt() + BlockFormat.padded(operations.keyBytes[place]);
    }

    /** Whether nothing that was read before the swap says that the slot is the key's. */
    private boolean isUnproven(int place) {
        return byHash[place] && operations.kind[place] == Operations.SET;
    }

    private boolean headIsOfKey(int place) {
        return operations.headIsOfWord(place)
                && Keys.equal(operations.head(place), operations.key[place], operations.keyBytes[place]);
    }

    /** The slot's hash is another's, or other slots have its fingerprint: its block says whose it is. */
    private void probe(int place) {
        if (probe.take()) {
            operations.step[place] = PROBE;
            if (!posts.readBlock(place, operations.word[place], probe.memory(), 0)) {
                probe.give();
                broken(place);
            }
        } else {
            lookAnew(place);
        }
    }

    private void probed(int place) {
        boolean whole = probe.whole(operations.word[place]);
        boolean mine = whole && Keys.equal(probe.address(), operations.key[place], operations.keyBytes[place]);
        probe.give();
        if (mine) {
            found(place);
        } else if (whole) {
            look(place, operations.slot[place] + 1);
        } else {
            brokenIfItStaysSo(place);
        }
    }

    /** The block that the request's word names was not whole. */
    final void brokenIfItStaysSo(int place) {
        if (operations.staysBroken(place, operations.word[place])) {
            broken(place);
        } else {
            lookAnew(place);
        }
    }

    private void swapped(int place) {
        if (posts.found(place) == operations.word[place]) {
            if (isUnproven(place) && !headIsOfKey(place)) {
                // The hash was that of the slot's former object, so this is an insertion.
                describe(place);
                return;
            }
            reclaimReplaced(operations.word[place]);
            if (Bucket.expirySeconds(operations.bucket(place), operations.slot[place]) != expirySeconds[place]) {
                posts.hintExpiry(place, operations.slot[place], expirySeconds[place]);
            }
            records.accessed(
                    operations.hash[place],
                    operations.bucket(place),
                    operations.slot[place],
                    operations.head(place),
                    operations.block[place]);
            ending.end(place, KvStatus.DONE);
            return;
        }
        counts.add(Counts.SWAPS_LOST);
        operations.step[place] = operations.kind[place] == Operations.SET ? SWAP_LOST : LOOK;
        posts.readBucket(place);
    }

    /** The request's object is in place of that of a word. */
    void reclaimReplaced(long word) {
        reclaimer.reclaim(word);
    }

    /** Another has changed the slot since: with a set of the same key, or by taking it out. */
    private void lookAgain(int place) {
        long bucket = operations.bucket(place);
        int slot = operations.slot[place];
        // In another slot it may have been before.
        if (Bucket.sure(bucket, slot, operations.hash[place]) && Bucket.word(bucket, slot) != operations.word[place]) {
            operations.word[place] = Bucket.word(bucket, slot);
            operations.step[place] = WINNER;
            posts.readHeader(place, headBytes(place));
        } else {
            look(place, 0);
        }
    }

    /** This one comes right before another set, but not before what has looked at the object in between. */
    private void lost(int place) {
        if (headIsOfKey(place) && !BlockFormat.conditional(ALL, operations.head(place))) {
            giveBack(place);
            ending.end(place, KvStatus.DONE);
        } else {
            lookAnew(place);
        }
    }

    /** No slot names the request's block, and none will. */
    final void giveBack(int place) {
        allocator.giveBack(operations.block[place]);
        if (writer.isOf(place)) {
            writer.giveBack();
        }
    }

    final void insert(int place) {
        chooseSlot(place);
        operations.step[place] = INSERT;
        posts.swap(place, operations.slot[place], operations.word[place], operations.block[place]);
    }

    /** The slot that a new object gets, and what is in it. */
    final void chooseSlot(int place) {
        long bucket = operations.bucket(place);
        int slot = Bucket.findEmpty(bucket);
        if (slot == Bucket.NONE) {
            slot = Bucket.findOldestHistory(bucket, records.newestHistory());
        }
        if (slot == Bucket.NONE && ++fullBuckets % CLAIM_EVERY == 0) {
            // Most are of adds under way, but some may be of one that has died.
            slot = Bucket.findClaim(bucket);
        }
        if (slot == Bucket.NONE) {
            slot = room.victimOf(bucket);
        }
        operations.slot[place] = slot;
        operations.word[place] = Bucket.word(bucket, slot);
    }

    private void inserted(int place) {
        if (posts.found(place) != operations.word[place]) {
            counts.add(Counts.SWAPS_LOST);
            lookAnew(place);
            return;
        }
        describe(place);
    }

    /** The slot names the request's block, in place of another key's or of none. */
    private void describe(int place) {
        reclaimCrowdedOut(place);
        operations.word[place] = operations.block[place];
        operations.step[place] = INSERTED;
        posts.beginList();
        posts.writeMetadata(
                place,
                operations.slot[place],
                expirySeconds[place],
                records.inserted(operations.bucket(place), operations.hash[place]));
        posts.readBucket(place);
        posts.endList();
    }

    final void reclaimCrowdedOut(int place) {
        if (SlotWord.isLive(operations.word[place])) {
            counts.add(Counts.CROWDED_OUT);
            reclaimer.reclaim(operations.word[place]);
        }
    }

    /** The insertion is done, and the bucket was read after it. */
    final void settle(int place) {
        operations.step[place] = SETTLE;
        settling.begin(place);
    }

    /** What the swap has done is not known: the block is nobody's until the session's blocks are reclaimed. */
    @Override
    public void abandon(int place) {
        if (operations.step[place] == PROBE) {
            probe.give();
        } else if (operations.step[place] == SETTLE) {
            settling.abandon(place);
        }
        room.abandon(place);
        ending.end(place, KvStatus.LOST);
    }
}
