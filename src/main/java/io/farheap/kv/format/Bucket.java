package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;

/**
 * What a copy of a bucket says. Its words were read one by one, so slots may be of different moments, and a slot's
 * metadata of another than its word.
 *
 * <p>A key is in the lowest slot whose word has its fingerprint and names a block with that key. While two clients
 * insert it there may be two such slots; whoever sees both takes the higher out first, so the lower one's value stays
 * the key's throughout. For the same reason a slot may be evicted only if no higher one has its fingerprint.
 *
 * <p>A slot's hash decides nothing of that: it is not changed in one step with the word, and a client that stood still
 * may write that of a key that has long left. It only saves a set waiting for a block ({@link #sure}), where a wrong
 * hash makes of an update an insertion, and takes out another key's object, as an eviction would.
 */
public final class Bucket {

    public static final int NONE = -1;

    private static final int SLOTS = SpaceShape.BUCKET_SLOTS;

    private Bucket() {}

    public static long word(long bucket, int slot) {
        return NativeMemory.ALL.get(JAVA_LONG, bucket + Slot.offset(slot));
    }

    static long hash(long bucket, int slot) {
        return NativeMemory.ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.HASH);
    }

    /** The time of the last access, in ticks. */
    public static long accessed(long bucket, int slot) {
        return NativeMemory.ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.ACCESSED);
    }

    public static long expirySeconds(long bucket, int slot) {
        return Integer.toUnsignedLong(NativeMemory.ALL.get(JAVA_INT, bucket + Slot.offset(slot) + Slot.EXPIRY));
    }

    /**
     * The lowest slot, from one on, that may have a key's object, by its fingerprint.
     *
     * @return its number, or {@link #NONE}
     */
    public static int find(long bucket, long hash, int from) {
        int fingerprint = KeyHash.fingerprint(hash);
        for (int slot = from; slot < SLOTS; slot++) {
            long word = word(bucket, slot);
            if (SlotWord.fingerprint(word) == fingerprint && SlotWord.isLive(word)) {
                return slot;
            }
        }
        return NONE;
    }

    /** The highest slot below one that {@link #find} would find. */
    public static int findLast(long bucket, long hash, int below) {
        int last = NONE;
        int slot = find(bucket, hash, 0);
        while (slot != NONE && slot < below) {
            last = slot;
            slot = find(bucket, hash, slot + 1);
        }
        return last;
    }

    /**
     * Whether a slot that may have a key's object is taken to have it without reading its block: its hash is the key's,
     * and no other live slot has its fingerprint, so that the key is in no other.
     */
    public static boolean sure(long bucket, int slot, long hash) {
        return hash(bucket, slot) == hash && find(bucket, hash, 0) == slot && find(bucket, hash, slot + 1) == NONE;
    }

    /** The history entry of a key, or {@link #NONE}. */
    public static int findHistory(long bucket, long hash) {
        int fingerprint = KeyHash.fingerprint(hash);
        for (int slot = 0; slot < SLOTS; slot++) {
            long word = word(bucket, slot);
            if (SlotWord.isHistory(word) && SlotWord.fingerprint(word) == fingerprint && hash(bucket, slot) == hash) {
                return slot;
            }
        }
        return NONE;
    }

    /** An empty slot, or {@link #NONE}. */
    public static int findEmpty(long bucket) {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (word(bucket, slot) == SlotWord.EMPTY) {
                return slot;
            }
        }
        return NONE;
    }

    /** A slot that somebody claims for any key, or {@link #NONE}. */
    public static int findClaim(long bucket) {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (SlotWord.isClaim(word(bucket, slot))) {
                return slot;
            }
        }
        return NONE;
    }

    /** A slot that somebody else claims for a key of the same fingerprint, or {@link #NONE}. */
    public static int findRival(long bucket, long claim) {
        for (int slot = 0; slot < SLOTS; slot++) {
            long word = word(bucket, slot);
            if (SlotWord.isClaim(word) && word != claim && SlotWord.fingerprint(word) == SlotWord.fingerprint(claim)) {
                return slot;
            }
        }
        return NONE;
    }

    /** The oldest history entry, as seen from a number that is about the newest; or {@link #NONE}. */
    public static int findOldestHistory(long bucket, long newest) {
        int oldest = NONE;
        long most = Long.MIN_VALUE;
        for (int slot = 0; slot < SLOTS; slot++) {
            long word = word(bucket, slot);
            if (SlotWord.isHistory(word)) {
                long age = age(newest, SlotWord.historyNumber(word));
                if (age > most) {
                    most = age;
                    oldest = slot;
                }
            }
        }
        return oldest;
    }

    /** How many entries were made since one, modulo 2^48; negative where it is newer than what is known. */
    private static long age(long newest, long number) {
        return newest - number << 16 >> 16;
    }

    /** Whether a slot has a live object that may be taken out as it is: no higher slot has its fingerprint. */
    public static boolean mayEvict(long bucket, int slot) {
        return SlotWord.isLive(word(bucket, slot)) && findTwin(bucket, slot, slot) == NONE;
    }

    /** Above {@code after}, the lowest live slot with a slot's fingerprint, or {@link #NONE}. */
    public static int findTwin(long bucket, int slot, int after) {
        int fingerprint = SlotWord.fingerprint(word(bucket, slot));
        for (int higher = after + 1; higher < SLOTS; higher++) {
            long other = word(bucket, higher);
            if (SlotWord.isLive(other) && SlotWord.fingerprint(other) == fingerprint) {
                return higher;
            }
        }
        return NONE;
    }
}
