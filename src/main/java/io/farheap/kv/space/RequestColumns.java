package io.farheap.kv.space;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RegisteredBuffer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * A session's requests, from issue to callback: a ring of places, each with columns for the request's arguments and
 * progress, and with local memory of its own. One thread.
 */
public final class RequestColumns {

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);

    public static final int GET = 0;
    public static final int SET = 1;
    public static final int DELETE = 2;
    public static final int ADD = 3;
    public static final int REPLACE = 4;
    public static final int COMPARE_AND_SET = 5;
    public static final int INCREMENT = 6;
    public static final int TOUCH = 7;
    /**
     * A move, used to take a server out of the map: an object's block is moved to another server, or the object is
     * evicted.
     */
    public static final int MOVE = 8;

    public static final int EVICT = 9;
    /** A compare-and-set that keeps the time to live. */
    public static final int RESTORE = 10;
    /** A move within the class of the object's block, which evicts nothing. */
    public static final int COMPACT = 11;

    /** An eviction, to make room for a block that a move needs. */
    public static final int MAKE_ROOM = 12;

    static final int KINDS = 13;

    /** Whether a request of this kind may change what a get of its key finds. */
    public static boolean isChange(int kind) {
        return kind >= SET && kind <= TOUCH || kind == RESTORE;
    }

    /** The effect of a WRITE is unknown. */
    public static final int WRITE_UNKNOWN = 1;
    /** The effect of the last compare-and-swap is unknown. */
    public static final int SWAP_UNKNOWN = 2;
    /** An operation was refused: a retry would be in vain. */
    public static final int REFUSED = 4;

    /** Steps that every kind has; a kind's own begin at {@link #OWN_STEPS}. */
    public static final int DONE = 0;

    public static final int HELD = 1;
    public static final int OWN_STEPS = 2;

    /** How often a block that is not whole is read under the same word before its slot counts as broken. */
    private static final int ATTEMPTS = 8;

    private static final int HASHES = 1 << 8;

    // Local memory of a place.
    private static final int BUCKET = 0;
    /** The words that atomics have found: of a compare-and-swap, of an addition, of a mark. */
    private static final int OLD = SpaceShape.BUCKET_BYTES;

    private static final int METADATA = OLD + 64;
    private static final int HEAD = METADATA + 64;
    /** Behind room for a head with its key, which requests without a block of their own read too. */
    private static final int KEY = HEAD + BlockFormat.MOST_HEAD_BYTES + BlockFormat.MOST_KEY_BYTES;

    private static final int BLOCK = KEY + BlockFormat.MOST_KEY_BYTES + 64;
    public static final int MOST_BLOCK_BYTES = SlotWord.MOST_UNITS * BlockFormat.UNIT_BYTES;
    private static final int SAMPLE = BLOCK + MOST_BLOCK_BYTES;
    /** Buckets that are read together to find what to evict. */
    public static final int SAMPLE_BUCKETS = 16;
    /** Objects of a sample whose blocks' heads are read, if the policy keeps data there. */
    public static final int SAMPLE_HEADS = 16;

    private static final int HEADS = SAMPLE + SAMPLE_BUCKETS * SpaceShape.BUCKET_BYTES;

    private static final int PLACE_BYTES = HEADS + SAMPLE_HEADS * BlockFormat.MOST_HEAD_BYTES;
    public final int count;
    private final int mask;

    public final long[] tag;
    public final int[] kind;
    public final int[] step;
    /** Operations posted for the step, whose tags have not come back. */
    public final int[] pending;
    /** Whether one of them was lost. */
    public final boolean[] lost;
    /** The effects that are unknown since a connection failed, and their consequences: a bit for each. */
    private final byte[] trouble;
    /** How many failed connections the request has met. */
    public final int[] failures;
    /** Whether its last compare-and-swap makes a slot name the request's own block. */
    public final boolean[] naming;
    /** The word whose block the request has marked; the mark counts once its operation has come back. */
    final long[] marked;
    /** Whether its last compare-and-swap was not posted, since it waits for the mark. */
    final boolean[] heldBack;
    /**
     * Whether the process was still in the request's era when the request had been stamped with it, so that pointers of
     * that era may be used: a block is used in another way only once the request has ended.
     */
    public final boolean[] fresh;
    /** Whether a slot may have the hash of the request's key for the request's own block, which it does not name. */
    public final boolean[] described;

    public final int[] status;
    public final long[] hash;
    /** The address of the key, padded to 8 bytes with zeros. */
    public final long[] key;

    public final int[] keyBytes;
    /** The slot that the request works on, and its word as it was found. */
    public final int[] slot;

    public final long[] word;
    /** Whether the request has passed a slot which may be the key's, as it cannot reach the slot's block. */
    public final boolean[] passed;
    /** The request's own block, if it has one. */
    public final long[] block;

    /** The request's further argument: a version, an increment, or an expiry in ms. */
    public final long[] argument;

    public final int[] attempts;
    /** The {@link PointerCache#time} before the request has posted the last operation that shows what a slot names. */
    public final long[] asked;
    /** The word whose block was not whole when it was last read. */
    private final long[] broken;

    // Read by another thread, which looks at what the session holds.
    /** The block that the request writes. */
    private final long[] writing;
    /** The word that the request's compare-and-swap may take out of the table. */
    private final long[] taking;
    /**
     * The era in which the request began, or since which it has read everything that it knows of the map; 0 for none.
     */
    private final long[] era;

    /** By a part of the hash: how many requests have it. */
    private final int[] sameHashes = new int[HASHES];

    /** A ring of places whose postings have all come back, in the order in which they did. */
    private final int[] ready;

    private int readyHead;
    private int readyTail;

    private final long address;
    private int first;
    private int inUse;

    /** @param count a power of two */
    public RequestColumns(int count, RegisteredBuffer memory) {
        this.count = count;
        this.mask = count - 1;
        this.address = memory.segment().address();
        tag = new long[count];
        kind = new int[count];
        step = new int[count];
        pending = new int[count];
        lost = new boolean[count];
        trouble = new byte[count];
        failures = new int[count];
        naming = new boolean[count];
        described = new boolean[count];
        marked = new long[count];
        heldBack = new boolean[count];
        fresh = new boolean[count];
        status = new int[count];
        hash = new long[count];
        key = new long[count];
        keyBytes = new int[count];
        slot = new int[count];
        word = new long[count];
        passed = new boolean[count];
        block = new long[count];
        argument = new long[count];
        attempts = new int[count];
        asked = new long[count];
        broken = new long[count];
        writing = new long[count];
        taking = new long[count];
        era = new long[count];
        ready = new int[count];
    }

    /**
     * From now on the request may know words of the table. The store is volatile, so the request's later reads of the
     * table come after it is visible.
     *
     * @param now 0 if the request knows none any more, until this is called again
     */
    public void knows(int place, long now) {
        // From here on the word may come back with another object.
        marked[place] = SlotWord.EMPTY;
        fresh[place] = false;
        WORDS.setVolatile(era, place, now);
    }

    /**
     * Stamps a request that begins with the process's era, as of {@link #knows}, and looks once more at the era: the
     * keeper may have begun another one before it could see the stamp.
     */
    public void stamp(int place, LongSupplier present) {
        long now = present.getAsLong();
        knows(place, now);
        fresh[place] = present.getAsLong() == now;
    }

    /** The last value given to {@link #knows}. The session's thread. */
    public long era(int place) {
        return era[place];
    }

    /** The era of the oldest request in flight; {@link Long#MAX_VALUE} if there is none. Any thread. */
    public long oldestEra() {
        long oldest = Long.MAX_VALUE;
        for (int place = 0; place < count; place++) {
            long one = (long) WORDS.getVolatile(era, place);
            oldest = one == 0 ? oldest : Math.min(oldest, one);
        }
        return oldest;
    }

    /** Gives the request a block, which it holds from now on. */
    public void writes(int place, long ownBlock) {
        WORDS.setRelease(writing, place, ownBlock);
    }

    public long writing(int place) {
        return writing[place];
    }

    /** Called before a compare-and-swap that may take a block over. */
    public void takes(int place, long slotWord) {
        WORDS.setRelease(taking, place, SlotWord.isLive(slotWord) ? slotWord : SlotWord.EMPTY);
    }

    public long taking(int place) {
        return taking[place];
    }

    /** The request holds nothing any more: its blocks are among the session's free ones, or in a slot. */
    public void holdsNothing(int place) {
        WORDS.setRelease(writing, place, SlotWord.EMPTY);
        WORDS.setRelease(taking, place, SlotWord.EMPTY);
        WORDS.setRelease(era, place, 0L);
    }

    /** Reports the blocks that requests hold. Any thread. */
    public void held(LongConsumer into) {
        for (int place = 0; place < count; place++) {
            into.accept((long) WORDS.getAcquire(taking, place));
            into.accept((long) WORDS.getAcquire(writing, place));
        }
    }

    public static long memoryBytes(int count) {
        return (long) count * PLACE_BYTES;
    }

    public boolean full() {
        return inUse == count;
    }

    public int inUse() {
        return inUse;
    }

    /** The place of the next request. */
    public int next() {
        return first + inUse & mask;
    }

    /** Adds a request with this hash in the next place. */
    public void add(long ofHash) {
        trouble[next()] = 0;
        failures[next()] = 0;
        inUse++;
        sameHashes[(int) ofHash & HASHES - 1]++;
    }

    /** Whether a request may have this hash; mostly false if none has. */
    public boolean mayHave(long aHash) {
        return sameHashes[(int) aHash & HASHES - 1] > 0;
    }

    /** A posting of a request has come back. */
    public void ended(int place, boolean wasLost) {
        lost[place] |= wasLost;
        if (--pending[place] == 0) {
            ready[readyTail++ & mask] = place;
        }
    }

    public void troubles(int place, int bits) {
        trouble[place] |= (byte) bits;
    }

    public boolean hasTrouble(int place, int bit) {
        return (trouble[place] & bit) != 0;
    }

    public void isOver(int place, int bit) {
        trouble[place] &= (byte) ~bit;
    }

    /** Whether some requests can continue: after a poll that was cut short, when no other operation is in flight. */
    public boolean hasReady() {
        return readyHead != readyTail;
    }

    /** The next request that can continue since {@link #ended}; {@link Bucket#NONE} if there is none. */
    public int nextReady() {
        return readyHead == readyTail ? Bucket.NONE : ready[readyHead++ & mask];
    }

    /** The place of the oldest request. */
    public int first() {
        return first;
    }

    /** The oldest request that has not ended, or {@link Bucket#NONE}. */
    public int oldestUndone() {
        int place = first;
        for (int i = 0; i < inUse; i++) {
            if (step[place] != DONE) {
                return place;
            }
            place = after(place);
        }
        return Bucket.NONE;
    }

    public boolean isOldestUndone(int place) {
        return oldestUndone() == place;
    }

    /** The place of the request after one. */
    public int after(int place) {
        return place + 1 & mask;
    }

    public void removeFirst() {
        sameHashes[(int) hash[first] & HASHES - 1]--;
        inUse--;
        // A session with one request at a time always uses the same place, whose memory stays in the cache.
        first = inUse == 0 ? 0 : first + 1 & mask;
    }

    /**
     * Records that the block that a word names was not whole. Either it was reused, and the slot has another word by
     * now, or it stays broken.
     *
     * @return whether it stays so
     */
    public boolean staysBroken(int place, long word) {
        if (broken[place] != word) {
            broken[place] = word;
            attempts[place] = 0;
        }
        return ++attempts[place] > ATTEMPTS;
    }

    /**
     * The block of the request's slot cannot be reached, so the request does not learn whether the slot is its key's.
     * It looks at the bucket's other slots: no key is in two, so if one of them is the key's, this one is not. If none
     * is, the request ends as lost.
     */
    public void passes(int place) {
        passed[place] = true;
        isOver(place, REFUSED);
    }

    /** Whether the head belongs to the block that the request's word names; if not, the block was reused. */
    public boolean headIsOfWord(int place) {
        return BlockFormat.headIsOf(NativeMemory.ALL, head(place), SlotWord.incarnation(word[place]));
    }

    // The memory of a place: offsets in the registered buffer, and addresses.

    static long bucketAt(int place) {
        return (long) place * PLACE_BYTES + BUCKET;
    }

    static long sampleAt(int place) {
        return (long) place * PLACE_BYTES + SAMPLE;
    }

    /** The head of the block of one of a sample's objects. */
    public static long sampledHeadAt(int place, int number) {
        return (long) place * PLACE_BYTES + HEADS + (long) number * BlockFormat.MOST_HEAD_BYTES;
    }

    /**
     * The offset of the head of the block that the request's word names, with room for the block's key. An increment
     * reads all of the block: this reaches into the memory for keys, which an increment does not use, because it keeps
     * its key in its own block.
     */
    public static long headAt(int place) {
        return (long) place * PLACE_BYTES + HEAD;
    }

    static long oldAt(int place) {
        return (long) place * PLACE_BYTES + OLD;
    }

    static long metadataAt(int place) {
        return (long) place * PLACE_BYTES + METADATA;
    }

    public static long blockAt(int place) {
        return (long) place * PLACE_BYTES + BLOCK;
    }

    /** The address at which a request without a block of its own keeps its key. */
    public long keyMemory(int place) {
        return address + (long) place * PLACE_BYTES + KEY;
    }

    public long bucket(int place) {
        return address + bucketAt(place);
    }

    public long sample(int place) {
        return address + sampleAt(place);
    }

    public long sampledHead(int place, int number) {
        return address + sampledHeadAt(place, number);
    }

    public long head(int place) {
        return address + headAt(place);
    }

    long old(int place) {
        return address + oldAt(place);
    }

    long metadata(int place) {
        return address + metadataAt(place);
    }

    public long blockCopy(int place) {
        return address + blockAt(place);
    }
}
