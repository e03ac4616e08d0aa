package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;

/**
 * A block: the memory that a slot's word names, in units of 64 bytes, little-endian.
 *
 * <p>A client writes a block once, by one WRITE, before a slot names it, and readers copy it without a lock. So a copy
 * must tell by itself whether it is the block that the slot's word meant. Its checksum detects a torn copy. Its
 * incarnation, which changes with each use of the block and is a part of the word too, detects a copy of a later use.
 *
 * <pre>
 *  0  u64  mark: incarnation (bits 0..13); state (14..15: 0; 1 from the moment on from which the block may not be the
 *          slot's any more). Outside the checksum, which is seeded with the incarnation
 *  8  u16  bytes of the key, 1 to 1,024
 * 10  u8   bytes of the policies' extension, a multiple of 8
 * 11  u8   kind: 0 an object; 1 an object's index, and 2 one of its {@linkplain ValuePieces pieces}
 * 12  u32  bytes of the value
 * 16  u64  version, which no other block of the space has
 * 24  u64  of an object or an index: incarnation (bits 0..13); 14: 1 if the request that stored the object looks first
 *          at what is there, 0 if it was a plain set; expiry in ms of the map's clock, 0: never (16..63).
 *          Of a piece: hash of the object's key
 * 32  u64  checksum of words 8, 16 and 24, the key and the value, seeded with the incarnation: {@link BlockChecksum}
 * 40       the extension, outside the checksum
 *          the key, padded to 8 bytes with zeros
 *          the value
 * </pre>
 */
public final class BlockFormat {

    public static final int UNIT_BYTES = 64;
    public static final int HEADER_BYTES = 40;
    public static final int MOST_KEY_BYTES = 1024;
    /** The most bytes of the words before the key: the header and the extension. */
    public static final int MOST_HEAD_BYTES = 128;

    private static final long LENGTHS = 8;
    private static final long VERSION = 16;
    private static final long EXPIRY = 24;
    private static final long HASH = EXPIRY;
    private static final long CHECKSUM = 32;
    private static final long INCARNATION_MASK = SlotWord.INCARNATIONS - 1;
    private static final long MARKED = 1L << 14;
    private static final long CONDITIONAL = 1L << 14;
    private static final int EXPIRY_SHIFT = 16;
    private static final int EXTENSION_SHIFT = 16;
    private static final int KIND_SHIFT = 24;
    private static final int VALUE_SHIFT = 32;
    private static final long SECOND_MILLIS = 1000;

    /** The kind of a block with an object. */
    public static final int OBJECT = 0;
    /** The kind of a block with the index of an object in pieces. */
    public static final int INDEX = 1;
    /** The kind of a block with a piece of a value. */
    public static final int PIECE = 2;

    private BlockFormat() {}

    /** A length, rounded up to a multiple of 8. */
    public static int padded(int bytes) {
        return bytes + 7 & ~7;
    }

    /** The offset of the key in a block. */
    public static int keyAt(int extensionBytes) {
        return HEADER_BYTES + extensionBytes;
    }

    /** The offset of the value in a block. */
    public static int valueAt(int extensionBytes, int keyBytes) {
        return HEADER_BYTES + extensionBytes + padded(keyBytes);
    }

    /** How many units a block takes. */
    public static int units(int extensionBytes, int keyBytes, int valueBytes) {
        return valueAt(extensionBytes, keyBytes) + valueBytes + UNIT_BYTES - 1 >>> 6;
    }

    /** The mark of a block that a slot may name. */
    public static long live(int incarnation) {
        return incarnation;
    }

    /**
     * The mark from which on the block may not be the slot's any more. A client that changes or empties a slot sets it
     * before, if clients may keep pointers to the block: one that reads {@link #live} by a pointer has the value that
     * the key has at that moment.
     */
    public static long marked(int incarnation) {
        return incarnation | MARKED;
    }

    /**
     * Whether a copy of a block, or of its first word alone, has the mark {@link #live} of an incarnation. A block with
     * any other is not read by a pointer: a client that changes its slot could not mark it.
     */
    public static boolean isLive(MemorySegment memory, long at, int incarnation) {
        return memory.get(JAVA_LONG, at) == live(incarnation);
    }

    /**
     * Writes the words before the key of an object or of an index, except the incarnation and the checksum, which
     * {@link #seal} writes.
     *
     * @param at offset of the block, a multiple of 8
     */
    public static void prepare(
            MemorySegment memory,
            long at,
            int kind,
            long expiryMillis,
            int extensionBytes,
            int keyBytes,
            int valueBytes,
            long version) {
        prepareLengths(memory, at, kind, extensionBytes, keyBytes, valueBytes, version);
        memory.set(JAVA_LONG, at + EXPIRY, expiryMillis << EXPIRY_SHIFT);
    }

    /** The same of a piece. @param hash of the object's key */
    static void preparePiece(
            MemorySegment memory, long at, int extensionBytes, int keyBytes, int valueBytes, long version, long hash) {
        prepareLengths(memory, at, PIECE, extensionBytes, keyBytes, valueBytes, version);
        memory.set(JAVA_LONG, at + HASH, hash);
    }

    private static void prepareLengths(
            MemorySegment memory, long at, int kind, int extensionBytes, int keyBytes, int valueBytes, long version) {
        memory.set(JAVA_LONG, at, 0);
        memory.set(
                JAVA_LONG,
                at + LENGTHS,
                keyBytes
                        | (long) extensionBytes << EXTENSION_SHIFT
                        | (long) kind << KIND_SHIFT
                        | (long) valueBytes << VALUE_SHIFT);
        memory.set(JAVA_LONG, at + VERSION, version);
    }

    /**
     * Says in a prepared block that it was stored by a request that looks first at what is there, such as an add or a
     * move. A set whose slot was changed to such a block meanwhile begins again; if it was changed to a plain set's
     * block of the same key, the set ends, as if its value had been there right before.
     */
    public static void setConditional(MemorySegment memory, long at) {
        setExpiry(memory, at, expiryMillis(memory, at));
    }

    /** Whether the block was stored by a request that looked first at what was there. */
    public static boolean conditional(MemorySegment memory, long at) {
        return (memory.get(JAVA_LONG, at + EXPIRY) & CONDITIONAL) != 0;
    }

    /** As {@link #setConditional}, and with another expiry. */
    public static void setExpiry(MemorySegment memory, long at, long expiryMillis) {
        memory.set(JAVA_LONG, at + EXPIRY, CONDITIONAL | expiryMillis << EXPIRY_SHIFT);
    }

    /**
     * Completes a prepared block, or a copy of one that is to be stored elsewhere, whose key and value are in their
     * places.
     *
     * @param checksum of the map
     */
    public static void seal(MemorySegment memory, long at, int incarnation, BlockChecksum checksum) {
        memory.set(JAVA_LONG, at, live(incarnation));
        if (kind(memory, at) != PIECE) {
            memory.set(JAVA_LONG, at + EXPIRY, memory.get(JAVA_LONG, at + EXPIRY) & ~INCARNATION_MASK | incarnation);
        }
        memory.set(
                JAVA_LONG,
                at + CHECKSUM,
                checksum(
                        memory,
                        at,
                        incarnation,
                        extensionBytes(memory, at),
                        keyBytes(memory, at),
                        valueBytes(memory, at),
                        checksum));
    }

    private static long checksum(
            MemorySegment memory,
            long at,
            int incarnation,
            int extensionBytes,
            int keyBytes,
            int valueBytes,
            BlockChecksum checksum) {
        long seed = checksum.seed(
                incarnation,
                memory.get(JAVA_LONG, at + LENGTHS),
                memory.get(JAVA_LONG, at + VERSION),
                memory.get(JAVA_LONG, at + HASH));
        return checksum.of(memory, at + keyAt(extensionBytes), padded(keyBytes) + valueBytes, seed);
    }

    /** The address at which the extension of a block begins. */
    public static long extensionAt(long at) {
        return at + HEADER_BYTES;
    }

    /** The incarnation of a block, or of a copy of its header alone. */
    public static int incarnation(MemorySegment memory, long at) {
        return (int) (memory.get(JAVA_LONG, at) & INCARNATION_MASK);
    }

    /**
     * Whether a copy of the header of an object or an index is of this incarnation, and so {@link #conditional} and
     * {@link #expiryMillis} are, which stand in one word with it. Nothing else of it need be.
     */
    public static boolean headIsOf(MemorySegment memory, long at, int incarnation) {
        return incarnation(memory, at) == incarnation
                && (memory.get(JAVA_LONG, at + EXPIRY) & INCARNATION_MASK) == incarnation;
    }

    /**
     * Whether a copy of a block is whole and of this incarnation. If not, none of its other fields has a meaning.
     *
     * @param most bytes that were copied
     * @param checksum of the map
     */
    public static boolean whole(MemorySegment memory, long at, int most, int incarnation, BlockChecksum checksum) {
        if (incarnation(memory, at) != incarnation) {
            return false;
        }
        int keyBytes = keyBytes(memory, at);
        int extensionBytes = extensionBytes(memory, at);
        long valueBytes = valueBytes(memory, at);
        if (keyBytes < 1
                || keyBytes > MOST_KEY_BYTES
                || (extensionBytes & 7) != 0
                || valueBytes < 0
                || valueAt(extensionBytes, keyBytes) + valueBytes > most) {
            return false;
        }
        return memory.get(JAVA_LONG, at + CHECKSUM)
                == checksum(memory, at, incarnation, extensionBytes, keyBytes, (int) valueBytes, checksum);
    }

    /**
     * Whether a copy of a block is the whole block that a live word names, and an object or an index as the word says.
     */
    public static boolean isWhole(MemorySegment memory, long at, long word, BlockChecksum checksum) {
        return whole(memory, at, SlotWord.units(word) * UNIT_BYTES, SlotWord.incarnation(word), checksum)
                && kind(memory, at) == (SlotWord.isIndex(word) ? INDEX : OBJECT);
    }

    public static int keyBytes(MemorySegment memory, long at) {
        return (int) memory.get(JAVA_LONG, at + LENGTHS) & 0xFFFF;
    }

    public static int extensionBytes(MemorySegment memory, long at) {
        return (int) (memory.get(JAVA_LONG, at + LENGTHS) >>> EXTENSION_SHIFT) & 0xFF;
    }

    public static int kind(MemorySegment memory, long at) {
        return (int) (memory.get(JAVA_LONG, at + LENGTHS) >>> KIND_SHIFT) & 0xFF;
    }

    public static int valueBytes(MemorySegment memory, long at) {
        return (int) (memory.get(JAVA_LONG, at + LENGTHS) >>> VALUE_SHIFT);
    }

    /** How many bytes of a whole block are used: up to the end of the value. */
    public static int usedBytes(MemorySegment memory, long at) {
        return valueAt(extensionBytes(memory, at), keyBytes(memory, at)) + valueBytes(memory, at);
    }

    /** The version of the object. */
    public static long version(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG, at + VERSION);
    }

    /**
     * The hash of the object's key, of a block of any kind. Of one that is not whole it may be any number.
     *
     * @param most bytes that were copied
     */
    public static long hash(MemorySegment memory, long at, int most, KeyHash keyHash) {
        if (kind(memory, at) == PIECE) {
            return memory.get(JAVA_LONG, at + HASH);
        }
        int keyAt = keyAt(extensionBytes(memory, at));
        int room = Math.max(0, most - keyAt);
        return keyHash.of(memory, at + keyAt, Math.min(keyBytes(memory, at), room));
    }

    /** An expiry in the unit of {@link Slot}: seconds, rounded up, and at most {@link Slot#LAST_EXPIRY}. */
    public static long seconds(long expiryMillis) {
        return Math.min(Math.ceilDiv(expiryMillis, SECOND_MILLIS), Slot.LAST_EXPIRY);
    }

    /** When the object's time to live ends, in ms of the map's clock; 0: never. */
    public static long expiryMillis(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG, at + EXPIRY) >>> EXPIRY_SHIFT;
    }
}
