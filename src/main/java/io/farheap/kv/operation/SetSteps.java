package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.AccessRecords;
import io.farheap.kv.eviction.SampledEviction;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * A set: room for its block; one list with a READ of the key's bucket and the WRITE of the block; the compare-and-swap
 * that makes the slot name it. An insertion then writes the slot's metadata and reads the bucket once more, for
 * {@link DuplicateRemoval}.
 *
 * <p><b>Where it takes effect.</b> At its compare-and-swap, but for two cases, where another set of the key has taken
 * effect since this one read the bucket, and this one counts as having taken effect right before it: an update whose
 * swap found that the key's slot has the key by another word meanwhile, of a set; and an insertion that finds the key
 * in a lower slot.
 *
 * <p>A slot that may be the key's, and whose block cannot be read, is emptied first: another process may be able to.
 */
abstract class SetSteps implements RequestSteps {

    static final MemorySegment ALL = NativeMemory.ALL;

    private static final int SWAP = BlockWrite.BLOCK_STEPS;
    private static final int SWAP_LOST = BlockWrite.BLOCK_STEPS + 1;
    private static final int INSERT = BlockWrite.BLOCK_STEPS + 2;
    private static final int INSERTED = BlockWrite.BLOCK_STEPS + 3;
    private static final int SETTLE = BlockWrite.BLOCK_STEPS + 4;
    private static final int PROBE = BlockWrite.BLOCK_STEPS + 5;
    static final int LOOK = BlockWrite.BLOCK_STEPS + 6;
    private static final int WINNER = BlockWrite.BLOCK_STEPS + 7;
    private static final int TAKE_OUT = BlockWrite.BLOCK_STEPS + 8;
    // Look whether a compare-and-swap has been executed, of which that is not known.
    private static final int RESOLVE_UPDATE = BlockWrite.BLOCK_STEPS + 9;
    private static final int RESOLVE_INSERT = BlockWrite.BLOCK_STEPS + 10;
    static final int MORE_STEPS = BlockWrite.BLOCK_STEPS + 11;

    /** Of so many insertions into full buckets one takes over another's claim, if there is one. */
    private static final int CLAIM_EVERY = 16;

    /** The steps before these. */
    public final BlockWrite blockWrite;

    final RequestColumns operations;
    final RequestPoster posts;
    final RequestSink ending;
    final FailedRequestBlocks doubts;
    final SampledEviction room;
    final BlockAllocator allocator;
    final AccessRecords records;
    private final ProbeBuffer probe;
    private final DuplicateRemoval settling;
    final Reclaimer reclaimer;
    private final StaleObjectRemoval takeOut;
    final MapSessionCounts counts;
    /** Whether the request's slot is taken for the key's by its hash alone. */
    private final boolean[] byHash;

    private int fullBuckets;

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
        counts = parts.counts();
        byHash = new boolean[operations.count];
        settling = new DuplicateRemoval(operations, posts, ending, probe, reclaimer, counts);
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case SWAP -> swapped(place);
            case SWAP_LOST -> lookAgain(place);
            case INSERT -> inserted(place);
            case INSERTED -> settle(place);
            case SETTLE -> settling.advance(place);
            case PROBE -> probed(place);
            case LOOK -> look(place, 0);
            case WINNER -> lost(place);
            case TAKE_OUT -> takeOutMore(place);
            case RESOLVE_UPDATE, RESOLVE_INSERT -> resolved(place);
            default -> {
                if (blockWrite.advance(place)) {
                    look(place, 0);
                }
            }
        }
    }

    /**
     * The bucket is there: an update where the key is in it, else an insertion.
     *
     * @param from slots before this one have been looked at
     */
    final void look(int place, int from) {
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
            case StaleObjectRemoval.DONE -> tookOut(place);
            case StaleObjectRemoval.CHANGED -> lookAnew(place);
            default -> {}
        }
    }

    final void lookAnew(int place) {
        operations.step[place] = LOOK;
        posts.readBucket(place);
    }

    final void update(int place) {
        operations.step[place] = SWAP;
        if (blockWrite.extensionBytes == 0 && !isUnproven(place)) {
            posts.swap(place, operations.slot[place], operations.word[place], operations.block[place]);
            return;
        }
        posts.beginList();
        posts.readReplaced(place, isUnproven(place) ? headBytes(place) : blockWrite.keyAt());
        posts.swap(place, operations.slot[place], operations.word[place], operations.block[place]);
        posts.endList();
    }

    /** What says whose a block is. */
    final int headBytes(int place) {
        return blockWrite.keyAt() + BlockFormat.padded(operations.keyBytes[place]);
    }

    /** Whether nothing that was read before the swap says that the slot is the key's. */
    private boolean isUnproven(int place) {
        return byHash[place] && operations.kind[place] == RequestColumns.SET;
    }

    private boolean headIsOfKey(int place) {
        return operations.headIsOfWord(place)
                && PaddedKeys.equal(operations.head(place), operations.key[place], operations.keyBytes[place]);
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
        boolean mine = whole && PaddedKeys.equal(probe.address(), operations.key[place], operations.keyBytes[place]);
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
            updated(place);
            return;
        }
        counts.add(MapSessionCounts.SWAPS_LOST);
        operations.step[place] = operations.kind[place] == RequestColumns.SET ? SWAP_LOST : LOOK;
        posts.readBucket(place);
    }

    private void updated(int place) {
        reclaimReplaced(operations.word[place]);
        long expirySeconds = blockWrite.expirySeconds[place];
        if (Bucket.expirySeconds(operations.bucket(place), operations.slot[place]) != expirySeconds) {
            posts.hintExpiry(place, operations.slot[place], expirySeconds);
        }
        records.accessed(
                operations.hash[place],
                operations.bucket(place),
                operations.slot[place],
                operations.head(place),
                operations.block[place]);
        ending.end(place, KvStatus.DONE);
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
            blockWrite.giveBack(place);
            ending.end(place, KvStatus.DONE);
        } else {
            lookAnew(place);
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
            counts.add(MapSessionCounts.SWAPS_LOST);
            lookAnew(place);
            return;
        }
        describe(place);
    }

    /** The slot names the request's block, in place of another key's or of none. */
    private void describe(int place) {
        reclaimCrowdedOut(place);
        operations.word[place] = operations.block[place];
        ObjectMetadata metadata = records.inserted(operations.bucket(place), operations.hash[place]);
        posts.fillMetadata(place, blockWrite.expirySeconds[place], metadata);
        writeMetadata(place);
    }

    /** The slot that is the request's word's gets its metadata. */
    final void writeMetadata(int place) {
        doubts.handOver(place);
        operations.step[place] = INSERTED;
        posts.beginList();
        posts.writeMetadata(place, operations.slot[place]);
        posts.readBucket(place);
        posts.endList();
    }

    final void reclaimCrowdedOut(int place) {
        if (SlotWord.isLive(operations.word[place])) {
            counts.add(MapSessionCounts.CROWDED_OUT);
            reclaimer.reclaim(operations.word[place]);
        }
    }

    /** The insertion is done, and the bucket was read after it. */
    final void settle(int place) {
        operations.step[place] = SETTLE;
        settling.begin(place);
    }

    @Override
    public void again(int place) {
        switch (operations.step[place]) {
            case INSERTED -> writeMetadata(place);
            case SWAP, RESOLVE_UPDATE -> resolveOr(place, false);
            case INSERT, RESOLVE_INSERT -> resolveOr(place, true);
            case SETTLE -> {
                leaveStep(place);
                doubts.leave(place);
                settling.again(place);
            }
            default -> {
                leaveStep(place);
                doubts.leave(place);
                if (!blockWrite.again(place)) {
                    goOnUnnamed(place);
                }
            }
        }
    }

    /** From the bucket on: no slot names the request's block, or only as a claim. */
    void goOnUnnamed(int place) {
        blockWrite.writeAgain(place, isClaimed(place));
    }

    /** Whether a slot may name the request's block as a claim. */
    abstract boolean isClaimed(int place);

    private void resolveOr(int place, boolean inserts) {
        if (doubts.swapUnknown(place)) {
            resolve(place, inserts);
        } else {
            goOnUnnamed(place);
        }
    }

    /** Its slot tells what a compare-and-swap has done that makes it name the block, unless it has changed since. */
    final void resolve(int place, boolean inserts) {
        operations.step[place] = inserts ? RESOLVE_INSERT : RESOLVE_UPDATE;
        posts.readBucket(place);
    }

    private void resolved(int place) {
        long now = Bucket.word(operations.bucket(place), operations.slot[place]);
        // The slot may have had the block in between: EMPTY comes back, and so do others' claims.
        boolean mayHaveBeenNamed = operations.step[place] == RESOLVE_INSERT
                && (now == SlotWord.EMPTY || SlotWord.isClaim(now) && !isClaimed(place));
        if (now != operations.block[place] && (now != operations.word[place] || mayHaveBeenNamed)) {
            ending.end(place, KvStatus.LOST);
            return;
        }
        doubts.swapKnown(place);
        if (now != operations.block[place]) {
            lookAnew(place);
        } else if (operations.step[place] == RESOLVE_INSERT || isUnproven(place) && !headIsOfKey(place)) {
            describe(place);
        } else {
            updated(place);
        }
    }

    @Override
    public void abandon(int place) {
        leaveStep(place);
        ending.end(place, KvStatus.LOST);
    }

    /** A connection failed during a step, which has what is to be given back. */
    void leaveStep(int place) {
        switch (operations.step[place]) {
            case PROBE -> probe.give();
            case SETTLE -> settling.abandon(place);
            default -> blockWrite.leaveStep(place);
        }
    }
}
