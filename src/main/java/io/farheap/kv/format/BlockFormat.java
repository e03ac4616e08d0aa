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
 *  0  u64  mark: incarnation (bits 0..13); state (14..15: 1 if the request that stored the object looks first at what
 *          is there, 0 if it was a plain set); expiry in ms of the map's clock, 0: never (16..63). Outside the
 *          checksum, which is seeded with the incarnation
 *  8  u16  bytes of the key, 1 to 1,024
 * 10  u8   bytes of the policies' extension, a multiple of 8
 * 11  u8   kind: 0 an object; 1 an object's index, and 2 one of its {@linkplain ValuePieces pieces}
 * 12  u32  bytes of the value
 * 16  u64  version, which no other block of the space has
 * 24  u64  hash of the key
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
    private static final long HASH = 24;
    private static final long CHECKSUM = 32;
    private static final long INCARNATION_MASK = SlotWord.INCARNATIONS - 1;
    private static final int STATE_SHIFT = 14;
    private static final int EXPIRY_SHIFT = 16;
    private static final int EXTENSION_SHIFT = 16;
    private static final int KIND_SHIFT = 24;
    private static final int VALUE_SHIFT = 32;
    private static final long SECOND_MILLIS = 1000;

    /** The state of a block that a plain set has stored. */
    static final int LIVE = 0;
    /**
     * The state of a block that was stored by a request which looks first at what is there, such as an add or a move. A
     * set whose slot was changed to such a block meanwhile begins again; if it was changed to a plain set's block of
     * the same key, the set ends, as if its value had been there right before.
     */
    static final int CONDITIONAL = 1;

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

    static long mark(int incarnation, int state, long expiryMillis) {
        return incarnation | (long) state << STATE_SHIFT | expiryMillis << EXPIRY_SHIFT;
    }

    /**
     * Writes the words before the key, except the incarnation and the checksum, which {@link #seal} writes.
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
            long version,
            long hash) {
        memory.set(JAVA_LONG, at, mark(0, LIVE, expiryMillis));
        memory.set(
                JAVA_LONG,
                at + LENGTHS,
                keyBytes
                        | (long) extensionBytes << EXTENSION_SHIFT
                        | (long) kind << KIND_SHIFT
                        | (long) valueBytes << VALUE_SHIFT);
        memory.set(JAVA_LONG, at + VERSION, version);
        memory.set(JAVA_LONG, at + HASH, hash);
    }

    /** Marks a prepared block as stored by a request that looks first at what is there. */
    public static void setConditional(MemorySegment memory, long at) {
        setExpiry(memory, at, expiryMillis(memory, at));
    }

    /** Whether the block was stored by a request that looked first at what was there. */
    public static boolean conditional(MemorySegment memory, long at) {
        return state(memory, at) == CONDITIONAL;
    }

    /** As {@link #setConditional}, and with another expiry. */
    public static void setExpiry(MemorySegment memory, long at, long expiryMillis) {
        memory.set(JAVA_LONG, at, mark(0, CONDITIONAL, expiryMillis));
    }

    /** Completes a prepared block whose key and value are in their places. @param checksum of the map */
    public static void seal(MemorySegment memory, long at, int incarnation, BlockChecksum checksum) {
        memory.set(JAVA_LONG, at, memory.get(JAVA_LONG, at) & ~INCARNATION_MASK | incarnation);
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

    /** The hash of the object's key. */
    public static long hash(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG, at + HASH);
    }

    static int state(MemorySegment memory, long at) {
        return (int) (memory.get(JAVA_LONG, at) >>> STATE_SHIFT) & 3;
    }

    /** An expiry in the unit of {@link Slot}: seconds, rounded up, and at most {@link Slot#LAST_EXPIRY}. */
    public static long seconds(long expiryMillis) {
        return Math.min(Math.ceilDiv(expiryMillis, SECOND_MILLIS), Slot.LAST_EXPIRY);
    }

    /** When the object's time to live ends, in ms of the map's clock; 0: never. */
    public static long expiryMillis(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG, at) >>> EXPIRY_SHIFT;
    }
}
