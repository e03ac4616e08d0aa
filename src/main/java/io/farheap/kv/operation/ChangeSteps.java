package io.farheap.kv.operation;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.PaddedKeys;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import java.lang.foreign.MemorySegment;

/**
 * Sets; and add, replace, compare-and-set and increment, which look first at the object that is there: as a set, with a
 * READ of the first words of the block that the key's slot names, before the compare-and-swap.
 *
 * <p><b>The moment at which it takes effect.</b> A request that stores takes effect at its compare-and-swap, which
 * fails unless the slot still names the block that was judged. An add that finds the key, and a compare-and-set that
 * finds another version, take effect at the READ of the bucket; so does a replace, compare-and-set or increment that
 * does not find the key. An expired object counts as absent, and is removed before the request reports that.
 *
 * <p><b>The insertion of an absent key</b>, by a set or an add, must not come while another request inserts the key in
 * another slot: no key is ever in two. It claims a slot, with a word that no session takes for an object's, and reads
 * the bucket again after that. Of two insertions at least one sees the other's claim. It removes that claim, and the
 * other insertion starts again. If the bucket does not have the key then, no other request can store it before this
 * one's last compare-and-swap, which turns the claim into the block's word. The slot's metadata are written before
 * that. Of two insertions, the one in the higher slot waits for the other, but looks {@link #PATIENCE} times at most,
 * as the claim may belong to a dead session.
 */
public final class ChangeSteps extends SetSteps {

    private static final int OLD = MORE_STEPS;
    private static final int WRITTEN = MORE_STEPS + 1;
    private static final int CLAIMED = MORE_STEPS + 2;
    private static final int WITHDRAWN = MORE_STEPS + 3;
    private static final int COMMITTED = MORE_STEPS + 4;
    private static final int RIVAL_REMOVED = MORE_STEPS + 5;
    /** Looks whether a claim of unknown outcome stands. */
    private static final int RESOLVE_CLAIM = MORE_STEPS + 6;

    /**
     * How often it looks at a claim before it takes the claim's session for dead: a living session that does not stand
     * still needs few round trips. If it was not dead, it claims a slot again.
     */
    private static final int PATIENCE = 32;

    /** In one of this many insertions into full buckets, another request's claim is taken over, if there is one. */
    private static final int CLAIM_EVERY = 16;

    /** The bytes of a block that an increment reads, which are all of a number's block. */
    private static final int NUMBER_BLOCK_BYTES = BlockFormat.MOST_HEAD_BYTES + BlockFormat.MOST_KEY_BYTES + Long.BYTES;

    private final MapClock clock;
    /** The slot that the request claims, or {@link Bucket#NONE}. */
    private final int[] claimed;
    /** The claim of another request that this one waits for, and in {@code looks} how often it has looked since. */
    private final long[] rivals;

    private final int[] looks;
    /** The word of a block that was read and did not suit the request, if the block was whole. */
    private final long[] suspect;

    private int fullBuckets;

    ChangeSteps(MapSessionParts parts) {
        super(parts);
        clock = parts.clock();
        claimed = new int[operations.count];
        rivals = new long[operations.count];
        looks = new int[operations.count];
        suspect = new long[operations.count];
    }

    @Override
    public void begin(int place) {
        claimed[place] = Bucket.NONE;
        rivals[place] = SlotWord.EMPTY;
        suspect[place] = SlotWord.EMPTY;
        if (operations.kind[place] != RequestColumns.SET) {
            BlockFormat.setConditional(ALL, operations.blockCopy(place));
        }
        blockWrite.begin(place);
    }

    @Override
    public void advance(int place) {
        switch (operations.step[place]) {
            case OLD -> judge(place);
            case WRITTEN -> update(place);
            case CLAIMED -> {
                if (posts.heldBack(place)) {
                    swapAndRead(place, claimed[place], operations.word[place], claimWord(place));
                } else {
                    afterClaim(place);
                }
            }
            case WITHDRAWN -> {
                claimed[place] = Bucket.NONE;
                look(place, 0);
            }
            case COMMITTED -> afterCommit(place);
            case RIVAL_REMOVED -> {
                if (posts.found(place) == operations.word[place]) {
                    counts.add(MapSessionCounts.CLAIMS_REMOVED);
                    // If it comes back, its session lives.
                    rivals[place] = SlotWord.EMPTY;
                }
                look(place, 0);
            }
            case RESOLVE_CLAIM -> resolvedClaim(place);
            default -> super.advance(place);
        }
    }

    @Override
    void found(int place) {
        if (operations.kind[place] == RequestColumns.SET) {
            if (isClaimed(place)) {
                // Another request has stored the key meanwhile.
                withdraw(place);
            } else {
                update(place);
            }
            return;
        }
        operations.step[place] = OLD;
        if (!posts.readStart(place, operations.word[place], RequestColumns.headAt(place), oldBytes(place))) {
            broken(place);
        }
    }

    /** The bytes that a request needs which looks at the object that is there. */
    private int oldBytes(int place) {
        return operations.kind[place] == RequestColumns.INCREMENT ? NUMBER_BLOCK_BYTES : headBytes(place);
    }

    @Override
    void foundWhole(int place, long block) {
        if (operations.kind[place] == RequestColumns.SET) {
            found(place);
            return;
        }
        long word = operations.word[place];
        int bytes = Math.min(oldBytes(place), SlotWord.units(word) * BlockFormat.UNIT_BYTES);
        MemorySegment.copy(ALL, block, ALL, operations.head(place), bytes);
        suspect[place] = word;
        judge(place);
    }

    @Override
    void absent(int place) {
        if (operations.kind[place] != RequestColumns.SET && operations.kind[place] != RequestColumns.ADD) {
            refuse(place, KvStatus.ABSENT);
        } else if (claimed[place] == Bucket.NONE) {
            claim(place);
        } else {
            commitUnlessRivals(place);
        }
    }

    private void refuse(int place, int status) {
        blockWrite.giveBack(place);
        ending.end(place, status);
    }

    /** Decides by the first words of the block that the slot names. */
    private void judge(int place) {
        long head = operations.head(place);
        if (!operations.headIsOfWord(place)) {
            // The block was reused, so the slot has changed.
            brokenIfItStaysSo(place);
        } else if (!PaddedKeys.equal(head, operations.key[place], operations.keyBytes[place])) {
            // Two keys have one hash, or the copy is torn.
            if (wasWhole(place)) {
                look(place, operations.slot[place] + 1);
            }
        } else if (claimed[place] != Bucket.NONE) {
            // Another request has stored the key meanwhile.
            withdraw(place);
        } else if (clock.expired(BlockFormat.expiryMillis(ALL, head))) {
            expired(place);
        } else {
            switch (operations.kind[place]) {
                case RequestColumns.ADD -> refuse(place, KvStatus.EXISTS);
                case RequestColumns.REPLACE -> update(place);
                case RequestColumns.COMPARE_AND_SET -> {
                    if (BlockFormat.version(ALL, head) == operations.argument[place]) {
                        update(place);
                    } else {
                        refuse(place, KvStatus.CHANGED);
                    }
                }
                case RequestColumns.RESTORE -> {
                    if (BlockFormat.version(ALL, head) == operations.argument[place]) {
                        keepExpiry(place, BlockFormat.expiryMillis(ALL, head));
                    } else {
                        refuse(place, KvStatus.CHANGED);
                    }
                }
                default -> increment(place);
            }
        }
    }

    @Override
    void broken(int place) {
        if (claimed[place] != Bucket.NONE) {
            withdraw(place);
        } else {
            super.broken(place);
        }
    }

    @Override
    void tookOut(int place) {
        if (operations.kind[place] == RequestColumns.SET || operations.kind[place] == RequestColumns.ADD) {
            lookAnew(place);
        } else {
            refuse(place, KvStatus.ABSENT);
        }
    }

    private void expired(int place) {
        if (operations.kind[place] == RequestColumns.ADD) {
            update(place);
        } else {
            takeOut(place);
        }
    }

    private void increment(int place) {
        long old = operations.head(place);
        long word = operations.word[place];
        int keyBytes = operations.keyBytes[place];
        if (BlockFormat.valueBytes(ALL, old) != Long.BYTES) {
            if (wasWhole(place)) {
                refuse(place, KvStatus.NOT_A_NUMBER);
            }
            return;
        }
        int most = Math.min(NUMBER_BLOCK_BYTES, SlotWord.units(word) * BlockFormat.UNIT_BYTES);
        if (!BlockFormat.whole(ALL, old, most, SlotWord.incarnation(word), checksum)) {
            brokenIfItStaysSo(place);
            return;
        }
        long block = operations.blockCopy(place);
        long number = ALL.get(JAVA_LONG, old + BlockFormat.valueAt(BlockFormat.extensionBytes(ALL, old), keyBytes));
        long value = block + BlockFormat.valueAt(blockWrite.extensionBytes, keyBytes);
        ALL.set(JAVA_LONG, value, number + operations.argument[place]);
        keepExpiry(place, BlockFormat.expiryMillis(ALL, old));
    }

    /**
     * Whether the first words of a block can be trusted, although nothing shows that they are of one moment: they can
     * if the slot still names the block when the bucket is read again. If that has not been done yet, reads the bucket
     * again.
     */
    private boolean wasWhole(int place) {
        if (suspect[place] == operations.word[place]) {
            return true;
        }
        suspect[place] = operations.word[place];
        lookAnew(place);
        return false;
    }

    /** Writes the request's block with the expiry of the one that it replaces. */
    private void keepExpiry(int place, long expiry) {
        long block = operations.blockCopy(place);
        blockWrite.expirySeconds[place] = BlockFormat.seconds(expiry);
        BlockFormat.setExpiry(ALL, block, expiry);
        BlockFormat.seal(ALL, block, SlotWord.incarnation(operations.block[place]), checksum);
        operations.step[place] = WRITTEN;
        posts.writeBlock(place, blockWrite.used[place]);
    }

    private void claim(int place) {
        int rival = Bucket.findRival(operations.bucket(place), claimWord(place));
        if (rival != Bucket.NONE && waitsFor(place, rival)) {
            lookAnew(place);
            return;
        }
        chooseSlot(place);
        claimed[place] = operations.slot[place];
        // Before the claim takes the key's history entry, if it does.
        ObjectMetadata metadata = records.inserted(operations.bucket(place), operations.hash[place]);
        posts.fillMetadata(place, blockWrite.expirySeconds[place], metadata);
        pointers.noteAccesses(operations.hash[place], metadata);
        operations.step[place] = CLAIMED;
        swapAndRead(place, claimed[place], operations.word[place], claimWord(place));
    }

    /** Chooses the slot for a new object, and notes the word that is in it. */
    private void chooseSlot(int place) {
        long bucket = operations.bucket(place);
        int slot = Bucket.findEmpty(bucket);
        if (slot == Bucket.NONE) {
            slot = Bucket.findOldestHistory(bucket, records.newestHistory());
        }
        if (slot == Bucket.NONE && ++fullBuckets % CLAIM_EVERY == 0) {
            // Most claims belong to insertions that are under way, but some may belong to dead sessions.
            slot = Bucket.findClaim(bucket);
        }
        if (slot == Bucket.NONE) {
            slot = room.victimOf(bucket);
        }
        operations.slot[place] = slot;
        operations.word[place] = Bucket.word(bucket, slot);
    }

    private void reclaimCrowdedOut(int place) {
        if (SlotWord.isLive(operations.word[place])) {
            counts.add(MapSessionCounts.CROWDED_OUT);
            reclaimer.reclaim(operations.word[place]);
        }
    }

    private long claimWord(int place) {
        return SlotWord.claim(operations.block[place]);
    }

    private void swapAndRead(int place, int slot, long expected, long value) {
        posts.beginList();
        posts.swap(place, slot, expected, value);
        posts.readBucket(place);
        posts.endList();
    }

    private void afterClaim(int place) {
        if (posts.found(place) == operations.word[place]) {
            reclaimCrowdedOut(place);
        } else {
            counts.add(MapSessionCounts.SWAPS_LOST);
            claimed[place] = Bucket.NONE;
        }
        look(place, 0);
    }

    private void withdraw(int place) {
        operations.step[place] = WITHDRAWN;
        swapAndRead(place, claimed[place], claimWord(place), SlotWord.EMPTY);
    }

    private void commitUnlessRivals(int place) {
        long claim = claimWord(place);
        int rival = Bucket.findRival(operations.bucket(place), claim);
        if (rival == Bucket.NONE) {
            operations.step[place] = COMMITTED;
            posts.beginList();
            posts.writeMetadata(place, claimed[place]);
            posts.swap(place, claimed[place], claim, operations.block[place]);
            posts.endList();
        } else if (rival < claimed[place] && waitsFor(place, rival)) {
            lookAnew(place);
        } else {
            operations.step[place] = RIVAL_REMOVED;
            operations.word[place] = Bucket.word(operations.bucket(place), rival);
            swapAndRead(place, rival, operations.word[place], SlotWord.EMPTY);
        }
    }

    /**
     * Two requests that remove each other's claims would never end, so the one in the higher slot waits for the lower,
     * and a request without a claim waits for one that is there. The wait has an end, as the other session may be dead.
     */
    private boolean waitsFor(int place, int rival) {
        long word = Bucket.word(operations.bucket(place), rival);
        if (rivals[place] != word) {
            rivals[place] = word;
            looks[place] = 0;
        }
        return looks[place]++ < PATIENCE;
    }

    @Override
    public void again(int place) {
        switch (operations.step[place]) {
            case CLAIMED, RESOLVE_CLAIM -> {
                if (doubts.swapUnknown(place)) {
                    operations.step[place] = RESOLVE_CLAIM;
                    posts.readBucket(place);
                    return;
                }
                if (posts.found(place) == operations.word[place]) {
                    reclaimCrowdedOut(place);
                }
                super.again(place);
            }
            case COMMITTED -> {
                operations.slot[place] = claimed[place];
                if (posts.found(place) == claimWord(place)) {
                    inserted(place);
                } else if (doubts.swapUnknown(place)) {
                    // If the compare-and-swap was not executed, the claim stands.
                    operations.word[place] = claimWord(place);
                    resolveInsert(place);
                } else {
                    super.again(place);
                }
            }
            default -> super.again(place);
        }
    }

    /** The bucket was read behind the fence, so this is also the look behind the claim. */
    private void resolvedClaim(int place) {
        long word = operations.word[place];
        long now = Bucket.word(operations.bucket(place), claimed[place]);
        if (now == claimWord(place)) {
            doubts.swapKnown(place);
            reclaimCrowdedOut(place);
        } else {
            claimed[place] = Bucket.NONE;
            if (SlotWord.isSame(now, word)) {
                doubts.swapKnown(place);
            } else {
                doubts.leave(place);
            }
        }
        look(place, 0);
    }

    @Override
    public void abandon(int place) {
        if (operations.step[place] == COMMITTED && posts.found(place) == claimWord(place)) {
            inserted(place);
            return;
        }
        if (operations.step[place] == CLAIMED && posts.found(place) == operations.word[place]) {
            reclaimCrowdedOut(place);
        }
        super.abandon(place);
    }

    @Override
    boolean isClaimed(int place) {
        return claimed[place] != Bucket.NONE;
    }

    private void afterCommit(int place) {
        if (posts.found(place) == claimWord(place)) {
            inserted(place);
            return;
        }
        claimed[place] = Bucket.NONE;
        counts.add(MapSessionCounts.SWAPS_LOST);
        lookAnew(place);
    }

    @Override
    void inserted(int place) {
        keepPointer(place, claimed[place]);
        claimed[place] = Bucket.NONE;
        doubts.handOver(place);
        ending.end(place, KvStatus.DONE);
    }
}
