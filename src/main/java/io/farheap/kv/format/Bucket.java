package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;

/**
 * Reads a local copy of a bucket. A READ copies the words one by one, so the slots may be of different moments, and a
 * slot's metadata may be older or newer than its word.
 *
 * <p>A key's object is the one in the slot whose word has the key's fingerprint and names a block with the key. No key
 * is in two slots: an insertion claims a slot, and looks for the key and for other claims behind that.
 *
 * <p>A slot's hash is not changed in one step with the word, and a client that was stopped between the two may write
 * the hash of a key that has long left the slot. So the hash is kept mixed with the word that it belongs to
 * ({@link #isOfHash}): beside any other word it is no key's hash, and the slot's block must be read.
 */
public final class Bucket {

    /** No slot. */
    public static final int NONE = -1;

    private static final int SLOTS = SpaceShape.BUCKET_SLOTS;
    private static final int EXPERT_BITS = 16;

    private Bucket() {}

    /** The word of a slot. */
    public static long word(long bucket, int slot) {
        return NativeMemory.ALL.get(JAVA_LONG, bucket + Slot.offset(slot));
    }

    /** The hash of a live slot's key, if the client that wrote the slot's word has written it too. */
    public static long hash(long bucket, int slot) {
        return SlotWord.besideHash(
                word(bucket, slot), NativeMemory.ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.HASH));
    }

    /** The word in the place of the insert time with which a history entry keeps its key's hash and the experts. */
    public static long historyRecord(long hash, long experts) {
        return hash << EXPERT_BITS | experts;
    }

    /** The experts that named the object of a history entry, a bit each. */
    public static long experts(long bucket, int slot) {
        return inserted(bucket, slot) & (1L << EXPERT_BITS) - 1;
    }

    private static long inserted(long bucket, int slot) {
        return NativeMemory.ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.INSERTED);
    }

    /** The time of the last access, in ticks of the map's clock. */
    public static long accessed(long bucket, int slot) {
        return NativeMemory.ALL.get(JAVA_LONG, bucket + Slot.offset(slot) + Slot.ACCESSED);
    }

    /** The expiry of a slot, in seconds of the map's clock; 0: never. */
    public static long expirySeconds(long bucket, int slot) {
        return Integer.toUnsignedLong(NativeMemory.ALL.get(JAVA_INT, bucket + Slot.offset(slot) + Slot.EXPIRY));
    }

    /**
     * The lowest slot, from {@code from} on, that may have the key's object, by its fingerprint.
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

    /** Whether the block that a live slot names is known to be of a key with this hash, without reading the block. */
    public static boolean isOfHash(long bucket, int slot, long hash) {
        return hash(bucket, slot) == hash;
    }

    /** The history entry of a key, or {@link #NONE}. */
    public static int findHistory(long bucket, long hash) {
        int fingerprint = KeyHash.fingerprint(hash);
        for (int slot = 0; slot < SLOTS; slot++) {
            long word = word(bucket, slot);
            if (SlotWord.isHistory(word)
                    && SlotWord.fingerprint(word) == fingerprint
                    && inserted(bucket, slot) >>> EXPERT_BITS == hash << EXPERT_BITS >>> EXPERT_BITS) {
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

    /** A slot with a claim for any key, or {@link #NONE}. */
    public static int findClaim(long bucket) {
        for (int slot = 0; slot < SLOTS; slot++) {
            if (SlotWord.isClaim(word(bucket, slot))) {
                return slot;
            }
        }
        return NONE;
    }

    /** A slot with another client's claim for a key of the same fingerprint, or {@link #NONE}. */
    public static int findRival(long bucket, long claim) {
        for (int slot = 0; slot < SLOTS; slot++) {
            long word = word(bucket, slot);
            if (SlotWord.isClaim(word) && word != claim && SlotWord.fingerprint(word) == SlotWord.fingerprint(claim)) {
                return slot;
            }
        }
        return NONE;
    }

    /** The oldest history entry, or {@link #NONE}. @param newest about the number of the newest entry of the map */
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

    /** How many entries were made since this one, modulo 2^48; negative if it is newer than {@code newest}. */
    private static long age(long newest, long number) {
        return newest - number << 16 >> 16;
    }
}
