package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * Objects whose value does not go into one block. The slot names an index, a block as any other object's, whose value
 * is a list of words; each names a piece of the value, a block that nothing else names. Index and pieces have the same
 * version and are never changed, so whoever has found an index that is whole and pieces that are of its version has the
 * object. Who takes the index out of the table has the pieces too.
 *
 * <pre>
 * value of an index
 *  0  u64  bytes of the object's value
 *  8  u64  word of the first piece, as {@link SlotWord} has it, without a fingerprint
 * 16       those of the others
 *
 * key of a piece
 *  0  u64  its number
 * </pre>
 *
 * A piece has room for the map's extension, which it does not use: the WRITE of one may come so late that the block, an
 * object's when it was posted, is a piece.
 */
public final class ValuePieces {

    public static final int MOST_VALUE_BYTES = 16 << 20;

    /** The largest block, of one that is an object or a piece; a test makes it smaller. */
    public static int mostUnits = SlotWord.MOST_UNITS;

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final int KEY_BYTES = Long.BYTES;

    /**
     * The least length of an index, for values up to 32 KiB, 64 KiB, and so on to 16 MiB: so a slot's word says how
     * large the object is, within a factor of two. Policies need no more.
     */
    private static final int[] INDEX_UNITS = {18, 20, 22, 24, 26, 28, 30, 56, 88, 160};

    private static final int UNKNOWN_STEP = 3;

    private static final int FIRST_BITS = 15;
    private static final int FIRST_UNITS = 24 << 10 >>> 6;

    private ValuePieces() {}

    /** Whether an object needs them. */
    public static boolean needed(int extensionBytes, int keyBytes, long valueBytes) {
        return BlockFormat.valueAt(extensionBytes, keyBytes) + valueBytes > (long) mostUnits * BlockFormat.UNIT_BYTES;
    }

    private static int mostBytes(int extensionBytes) {
        return mostUnits * BlockFormat.UNIT_BYTES - valueAt(extensionBytes);
    }

    /** How many a value has. */
    public static int count(int extensionBytes, int valueBytes) {
        return Math.ceilDiv(valueBytes, mostBytes(extensionBytes));
    }

    /**
     * How many segments the pieces of a value and their index need at least, whoever has the others.
     *
     * @param segmentUnits of each
     */
    public static long leastSegments(int extensionBytes, int valueBytes, int segmentUnits) {
        int largest = valueBytes / mostBytes(extensionBytes);
        int others = count(extensionBytes, valueBytes) - largest + 1;
        int ofSegment = segmentUnits / SizeClasses.units(SizeClasses.of(mostUnits));
        if (ofSegment == 0) {
            return Long.MAX_VALUE;
        }
        int segments = Math.ceilDiv(largest, ofSegment);
        // Smaller ones may lie in what is left of the last.
        return segments * ofSegment - largest >= others ? segments : segments + 1L;
    }

    /** How much of a value is in the piece of a number. */
    public static int bytesOf(int extensionBytes, int valueBytes, int number) {
        return Math.min(mostBytes(extensionBytes), valueBytes - startOf(extensionBytes, number));
    }

    /** Where in its value a piece begins. */
    public static int startOf(int extensionBytes, int number) {
        return number * mostBytes(extensionBytes);
    }

    /** The length of the block that has so much of a value. */
    public static int unitsOf(int extensionBytes, int bytes) {
        return BlockFormat.units(extensionBytes, KEY_BYTES, bytes);
    }

    /** Where in a piece its part of the value begins. */
    public static int valueAt(int extensionBytes) {
        return BlockFormat.valueAt(extensionBytes, KEY_BYTES);
    }

    /**
     * Makes a block a piece, whose part of the value is in its place.
     *
     * @param object the index's first words, which are prepared
     */
    public static void seal(long block, long object, int number, int bytes, int incarnation) {
        int extensionBytes = BlockFormat.extensionBytes(ALL, object);
        BlockFormat.prepare(
                ALL,
                block,
                BlockFormat.PIECE,
                0,
                extensionBytes,
                KEY_BYTES,
                bytes,
                BlockFormat.version(ALL, object),
                BlockFormat.hash(ALL, object));
        ALL.set(JAVA_LONG, block + BlockFormat.keyAt(extensionBytes), number);
        BlockFormat.seal(ALL, block, incarnation);
    }

    /** Whether a copy of a block is the piece that an index means. */
    public static boolean isPiece(long block, long word, long index, int number) {
        return BlockFormat.whole(ALL, block, SlotWord.units(word) * BlockFormat.UNIT_BYTES, SlotWord.incarnation(word))
                && BlockFormat.kind(ALL, block) == BlockFormat.PIECE
                && BlockFormat.version(ALL, block) == BlockFormat.version(ALL, index)
                && ALL.get(JAVA_LONG, block + BlockFormat.keyAt(BlockFormat.extensionBytes(ALL, block))) == number;
    }

    /** The bytes of an index's value. */
    public static int indexBytes(int pieces) {
        return Long.BYTES + pieces * Long.BYTES;
    }

    /** How long the block of an index is at least. */
    public static int indexUnits(int extensionBytes, int keyBytes, int valueBytes) {
        int units = BlockFormat.units(extensionBytes, keyBytes, indexBytes(count(extensionBytes, valueBytes)));
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(valueBytes - 1);
        return Math.max(units, INDEX_UNITS[Math.max(0, bits - FIRST_BITS)]);
    }

    /** How large the object of a live word is, in units of 64 bytes; about, where it has pieces. */
    public static int objectUnits(long word) {
        int units = SlotWord.units(word);
        if (!SlotWord.isIndex(word)) {
            return units;
        }
        if (units == SlotWord.MOST_UNITS) {
            // Larger than it had to be: there was no other block.
            return FIRST_UNITS << UNKNOWN_STEP;
        }
        int step = 0;
        while (step + 1 < INDEX_UNITS.length && INDEX_UNITS[step + 1] <= units) {
            step++;
        }
        return FIRST_UNITS << step;
    }

    private static long list(long index) {
        return index + BlockFormat.valueAt(BlockFormat.extensionBytes(ALL, index), BlockFormat.keyBytes(ALL, index));
    }

    /** Says in an index how long the value is. */
    public static void setValueBytes(long index, int bytes) {
        ALL.set(JAVA_LONG, list(index), bytes);
    }

    public static void setPiece(long index, int number, long word) {
        ALL.set(JAVA_LONG, list(index) + Long.BYTES + (long) number * Long.BYTES, word);
    }

    /**
     * How many pieces an index has that is whole.
     *
     * @return 0 where it cannot be one
     */
    public static int countOf(long index) {
        int bytes = BlockFormat.valueBytes(ALL, index);
        if (BlockFormat.kind(ALL, index) != BlockFormat.INDEX || bytes % Long.BYTES != 0) {
            return 0;
        }
        return Math.max(0, bytes / Long.BYTES - 1);
    }

    /** The bytes of the value of an index's object. */
    public static long valueBytes(long index) {
        return ALL.get(JAVA_LONG, list(index));
    }

    /** The word of a piece of an index: of a block, whatever another process wrote there. */
    public static long piece(long index, int number) {
        long word = ALL.get(JAVA_LONG, list(index) + Long.BYTES + (long) number * Long.BYTES);
        return SlotWord.block(word);
    }
}
