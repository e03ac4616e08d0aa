package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.AccessRecords;
import io.farheap.kv.eviction.SampledEviction;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * A request that makes the key's slot name its block: it looks for that slot, and changes the slot's word by a
 * compare-and-swap, which waits until the block that the word names is known to be the key's. So no update replaces
 * another key's object. A {@linkplain PointerCache pointer} says that too, and of which slot the word was: with one, a
 * set posts its compare-and-swap at once.
 *
 * <p><b>The moment at which it takes effect</b> is its compare-and-swap, except if that finds that the key's slot names
 * another set's block meanwhile: then a set counts as having taken effect right before that other set. That is not so
 * if the word was a pointer's, since the other set may have ended before this one began.
 *
 * <p>A slot that may be the key's and whose block cannot be read is emptied first: another process may be able to read
 * the block.
 */
abstract class SetSteps implements RequestSteps {

    static final MemorySegment ALL = NativeMemory.ALL;

    private static final int SWAP = BlockWrite.BLOCK_STEPS;
    private static final int PROBE = BlockWrite.BLOCK_STEPS + 1;
    static final int LOOK = BlockWrite.BLOCK_STEPS + 2;
    private static final int WINNER = BlockWrite.BLOCK_STEPS + 3;
    private static final int TAKE_OUT = BlockWrite.BLOCK_STEPS + 4;
    // Steps that look whether a compare-and-swap of unknown outcome has been executed.
    private static final int RESOLVE_UPDATE = BlockWrite.BLOCK_STEPS + 5;
    private static final int RESOLVE_INSERT = BlockWrite.BLOCK_STEPS + 6;
    private static final int RESOLVE_POINTER = BlockWrite.BLOCK_STEPS + 7;
    /** READs the block that the slot of a pointer names instead of the pointer's. */
    private static final int REPLACED = BlockWrite.BLOCK_STEPS + 8;

    static final int MORE_STEPS = BlockWrite.BLOCK_STEPS + 9;

    /** The steps that come before these. */
    public final BlockWrite blockWrite;

    final RequestColumns operations;
    final RequestPoster posts;
    final RequestSink ending;
    final FailedRequestBlocks doubts;
    final SampledEviction room;
    final BlockAllocator allocator;
    final AccessRecords records;
    private final ProbeBuffer probe;
    final Reclaimer reclaimer;
    private final StaleObjectRemoval takeOut;
    final PointerCache pointers;
    final MapSessionCounts counts;
    final BlockChecksum checksum;

    SetSteps(MapSessionParts parts) {
        blockWrite = new BlockWrite(parts);
        operations = parts.operations();
        posts = parts.posts();
        ending = parts.ending();
        doubts = parts.doubts();
        room = parts.room();
        allocator = parts.allocator();
        records = parts.records();
        probe = parts.probe();
        reclaimer = parts.reclaimer();
        takeOut = parts.takeOut();
        pointers = parts.pointers();
        counts = parts.counts();
        checksum = parts.checksum();
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case SWAP -> swapped(place);
            case PROBE -> probed(place);
            case LOOK -> look(place, 0);
            case WINNER -> lost(place);
            case TAKE_OUT -> takeOutMore(place);
            case BlockWrite.POINTER -> swappedByPointer(place);
            case REPLACED -> updateReplaced(place);
            case RESOLVE_UPDATE, RESOLVE_INSERT, RESOLVE_POINTER -> resolved(place);
            default -> {
                if (blockWrite.advance(place)) {
                    look(place, 0);
                }
            }
        }
    }

    /**
     * Continues with the bucket: with an update if the key is in it, else with an insertion.
     *
     * @param from slots before this one have been looked at
     */
    final void look(int place, int from) {
        long bucket = operations.bucket(place);
        long hash = operations.hash[place];
        int slot = Bucket.find(bucket, hash, from);
        operations.passed[place] &= from > 0;
        if (slot == Bucket.NONE) {
            if (operations.passed[place]) {
                ending.end(place, KvStatus.LOST);
            } else {
                absent(place);
            }
            return;
        }
        operations.slot[place] = slot;
        operations.word[place] = Bucket.word(bucket, slot);
        if (Bucket.isOfHash(bucket, slot, hash) || isPointed(place)) {
            found(place);
        } else {
            probe(place);
        }
    }

    /** Whether a pointer says that the request's word is the key's, so that its block need not be read. */
    private boolean isPointed(int place) {
        long word = operations.word[place];
        return SlotWord.hasPointers(word)
                && operations.fresh[place]
                && pointers.names(operations.hash[place], operations.era(place), word);
    }

    /** The bucket has no slot of the key. */
    abstract void absent(int place);

    /** The request's slot and word are the key's. */
    abstract void found(int place);

    /**
     * The same if the word's block has been read and is whole.
     *
     * @param block the address of a copy, which stays as it is until the next operation is posted
     */
    void foundWhole(int place, long block) {
        found(place);
    }

    /** The object that the request found has been removed, as it had expired. */
    abstract void tookOut(int place);

    /** Removes the object of the request's slot, which has expired. */
    final void takeOut(int place) {
        operations.step[place] = TAKE_OUT;
        takeOut.begin(place);
    }

    /** Removes the object of the request's slot, which may be the key's and cannot be read. */
    void broken(int place) {
        operations.step[place] = TAKE_OUT;
        takeOut.beginBroken(place);
    }

    private void takeOutMore(int place) {
        switch (takeOut.end(place)) {
            case StaleObjectRemoval.DONE -> tookOut(place);
            case StaleObjectRemoval.GOES_ON -> {}
            default -> lookAnew(place);
        }
    }

    final void lookAnew(int place) {
        operations.step[place] = LOOK;
        blockWrite.byPointer[place] = false;
        posts.readBucket(place);
    }

    final void update(int place) {
        operations.step[place] = SWAP;
        if (SlotWord.hasPointers(operations.word[place])) {
            // As of an update by a pointer.
            pointers.drop(operations.hash[place], operations.word[place]);
        }
        posts.beginList();
        if (blockWrite.extensionBytes != 0) {
            posts.readReplaced(place, blockWrite.keyAt());
        }
        posts.writeHash(place, operations.slot[place]);
        posts.swap(place, operations.slot[place], operations.word[place], operations.block[place]);
        posts.endList();
    }

    /** The bytes of a block that are enough to compare its key. */
    final int headBytes(int place) {
        return blockWrite.keyAt() + BlockFormat.padded(operations.keyBytes[place]);
    }

    private boolean headIsOfKey(int place) {
        return operations.headIsOfWord(place)
                && PaddedKeys.equal(operations.head(place), operations.key[place], operations.keyBytes[place]);
    }

    /**
     * Reads the slot's block to see which key it has, as the slot's hash does not tell: the block is another key's, or
     * a request that lost its compare-and-swap has written the hash last.
     */
    void probe(int place) {
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
        boolean mine = whole && PaddedKeys.equal(probe.address(), operations.key[place], operations.keyBytes[place]);
        probe.give();
        if (mine) {
            foundWhole(place, probe.address());
        } else if (whole) {
            look(place, operations.slot[place] + 1);
        } else {
            brokenIfItStaysSo(place);
        }
    }

    /** The block that the request's word names was not whole: reads again, or removes it if it stays broken. */
    final void brokenIfItStaysSo(int place) {
        if (operations.staysBroken(place, operations.word[place])) {
            broken(place);
        } else {
            lookAnew(place);
        }
    }

    private void swapped(int place) {
        long again = posts.swapAgain(place, operations.word[place]);
        if (again != SlotWord.EMPTY) {
            operations.word[place] = again;
            update(place);
            return;
        }
        if (posts.found(place) == operations.word[place]) {
            updated(place);
            return;
        }
        if (operations.kind[place] == RequestColumns.SET) {
            readOther(place, WINNER);
        } else {
            counts.add(MapSessionCounts.SWAPS_LOST);
            lookAnew(place);
        }
    }

    /** A compare-and-swap has found another word, which becomes the request's if it may be the key's. */
    private void readOther(int place, int step) {
        counts.add(MapSessionCounts.SWAPS_LOST);
        long found = posts.found(place);
        if (SlotWord.isLive(found) && SlotWord.fingerprint(found) == KeyHash.fingerprint(operations.hash[place])) {
            operations.word[place] = found;
            operations.step[place] = step;
            posts.readHeader(place, headBytes(place));
        } else {
            lookAnew(place);
        }
    }

    private void swappedByPointer(int place) {
        long word = operations.word[place];
        if (posts.heldBack(place)) {
            posts.swap(place, operations.slot[place], word, operations.block[place]);
        } else if (posts.found(place) == word) {
            blockWrite.losses.won(operations.hash[place]);
            updated(place);
        } else {
            blockWrite.losses.lost(operations.hash[place]);
            readOther(place, REPLACED);
        }
    }

    /**
     * Another request had changed the slot, perhaps before this one began. Its word is one that this request has seen
     * there, as if the bucket had been read.
     */
    private void updateReplaced(int place) {
        if (headIsOfKey(place)) {
            blockWrite.expires[place] |= BlockFormat.expiryMillis(ALL, operations.head(place)) != 0;
            update(place);
        } else {
            lookAnew(place);
        }
    }

    private void recordByPointer(int place) {
        long hash = operations.hash[place];
        int slot = operations.slot[place];
        long expirySeconds = blockWrite.expirySeconds[place];
        if (blockWrite.expires[place] || expirySeconds != 0) {
            posts.hintExpiry(place, slot, expirySeconds);
        }
        records.accessedByPointer(hash, slot, operations.head(place), operations.block[place]);
    }

    private void updated(int place) {
        reclaimReplaced(operations.word[place]);
        if (blockWrite.byPointer[place]) {
            recordByPointer(place);
        } else {
            record(place);
        }
        keepPointer(place, operations.slot[place]);
        ending.end(place, KvStatus.DONE);
    }

    private void record(int place) {
        long expirySeconds = blockWrite.expirySeconds[place];
        if (Bucket.expirySeconds(operations.bucket(place), operations.slot[place]) != expirySeconds) {
            posts.hintExpiry(place, operations.slot[place], expirySeconds);
        }
        ObjectMetadata known = records.accessed(
                operations.hash[place],
                operations.bucket(place),
                operations.slot[place],
                operations.head(place),
                operations.block[place]);
        pointers.noteAccesses(operations.hash[place], known);
    }

    /**
     * A slot names the request's block: keeps a pointer to it if its word has been made for that, or pointers need no
     * such word.
     */
    final void keepPointer(int place, int slot) {
        long word = operations.block[place];
        if (SlotWord.hasPointers(word) || pointers.isBounded() && !SlotWord.isIndex(word)) {
            pointers.keepNoted(
                    operations.hash[place],
                    word,
                    slot,
                    blockWrite.expirySeconds[place] != 0,
                    operations.era(place),
                    operations.asked[place]);
        }
    }

    /** Frees the block of a word that the request's object has replaced. */
    void reclaimReplaced(long word) {
        reclaimer.reclaim(word);
    }

    /**
     * The slot had the key's block when this set looked at it, and another request's block at the compare-and-swap. If
     * that is another set's of the key, this set counts as taking effect right before that. But it must not precede a
     * request that has looked at the object in between.
     */
    private void lost(int place) {
        if (headIsOfKey(place) && !BlockFormat.conditional(ALL, operations.head(place))) {
            blockWrite.giveBack(place);
            ending.end(place, KvStatus.DONE);
        } else {
            lookAnew(place);
        }
    }

    @Override
    public void again(int place) {
        switch (operations.step[place]) {
            case SWAP, BlockWrite.POINTER -> {
                if (posts.found(place) == operations.word[place]) {
                    updated(place);
                } else {
                    resolveOr(place, operations.step[place] == SWAP ? RESOLVE_UPDATE : RESOLVE_POINTER);
                }
            }
            case RESOLVE_UPDATE, RESOLVE_INSERT, RESOLVE_POINTER -> resolveOr(place, operations.step[place]);
            default -> {
                leaveStep(place);
                doubts.leave(place);
                if (!blockWrite.again(place)) {
                    goOnUnnamed(place);
                }
            }
        }
    }

    /** Continues from the step that reads the bucket; no slot names the request's block, except perhaps as a claim. */
    void goOnUnnamed(int place) {
        blockWrite.writeAgain(place, isClaimed(place));
    }

    /** Whether a slot may name the request's block as a claim. */
    abstract boolean isClaimed(int place);

    private void resolveOr(int place, int step) {
        if (doubts.swapUnknown(place)) {
            resolve(place, step);
        } else {
            goOnUnnamed(place);
        }
    }

    /**
     * Reads the bucket to find out what a compare-and-swap of unknown outcome has done: its slot tells, unless it has
     * changed since.
     */
    private void resolve(int place, int step) {
        operations.step[place] = step;
        blockWrite.byPointer[place] = false;
        posts.readBucket(place);
    }

    /** The same for the compare-and-swap of an insertion. */
    final void resolveInsert(int place) {
        resolve(place, RESOLVE_INSERT);
    }

    private void resolved(int place) {
        long now = Bucket.word(operations.bucket(place), operations.slot[place]);
        boolean done = SlotWord.isSame(now, operations.block[place]);
        if (!done && !SlotWord.isSame(now, operations.word[place])) {
            ending.end(place, KvStatus.LOST);
            return;
        }
        doubts.swapKnown(place);
        if (!done && operations.step[place] == RESOLVE_POINTER) {
            // Its block, posted in the same list, may not be written either.
            goOnUnnamed(place);
        } else if (!done) {
            look(place, 0);
        } else if (operations.step[place] == RESOLVE_INSERT) {
            inserted(place);
        } else {
            updated(place);
        }
    }

    /** The slot that the request claimed names its block. */
    abstract void inserted(int place);

    @Override
    public void abandon(int place) {
        boolean swaps = operations.step[place] == SWAP || operations.step[place] == BlockWrite.POINTER;
        if (swaps && posts.found(place) == operations.word[place]) {
            updated(place);
            return;
        }
        if (operations.step[place] == REPLACED || operations.step[place] == WINNER) {
            // The block may be another key's. The slot says so, or the bucket has the key elsewhere.
            operations.isOver(place, RequestColumns.REFUSED);
            lookAnew(place);
            return;
        }
        boolean passes = mayBeOfAnother(place);
        leaveStep(place);
        if (passes) {
            doubts.leave(place);
            operations.passes(place);
            look(place, operations.slot[place] + 1);
        } else {
            ending.end(place, KvStatus.LOST);
        }
    }

    /** Whether the request's step looks at a slot that may be another key's, or empties it as it cannot be read. */
    boolean mayBeOfAnother(int place) {
        return operations.step[place] == PROBE || operations.step[place] == TAKE_OUT && takeOut.isOfBroken(place);
    }

    /** A connection failed during a step: gives back what the step has taken. */
    void leaveStep(int place) {
        if (operations.step[place] == PROBE) {
            probe.give();
        } else {
            blockWrite.leaveStep(place);
        }
    }
}
