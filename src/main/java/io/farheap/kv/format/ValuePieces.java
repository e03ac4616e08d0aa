package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;

/**
 * Objects whose value does not fit into one block. The slot names an index: a block like any other object's, whose
 * value is a list of words. Each word names a block with a piece of the value, which no other word names. Index and
 * pieces have the same version and never change, so a reader that has found a whole index, and pieces of the same
 * version, has the object. The client that takes the index out of the table owns the pieces too.
 *
 * <pre>
 * value of an index
 *  0  u64  bytes of the object's value
 *  8  u64  word of the first piece, in the format of {@link SlotWord}, without a fingerprint
 * 16       words of the other pieces
 *
 * key of a piece
 *  0  u64  the piece's number
 * </pre>
 *
 * <p>A piece has room for the policy's extension, though it does not use it: a late WRITE of an extension may land in a
 * block that was an object's when the WRITE was posted, and has become a piece since.
 */
public final class ValuePieces {

    /** The most bytes of a value. */
    public static final int MOST_VALUE_BYTES = 16 << 20;

    /** The largest size of a block with an object or a piece; a test makes it smaller. */
    public static int mostUnits = SlotWord.MOST_UNITS;

    private static final MemorySegment ALL = NativeMemory.ALL;
    private static final int KEY_BYTES = Long.BYTES;

    /**
     * The least sizes of an index, for values up to 32 KiB, 64 KiB, and so on up to 16 MiB. So the size in a slot's
     * word tells how large the object is within a factor of two, which is all that policies need.
     */
    private static final int[] INDEX_UNITS = {18, 20, 22, 24, 26, 28, 30, 56, 88, 160};

    private static final int UNKNOWN_STEP = 3;

    private static final int FIRST_BITS = 15;
    private static final int FIRST_UNITS = 24 << 10 >>> 6;

    private ValuePieces() {}

    /** Whether an object needs pieces. */
    public static boolean needed(int extensionBytes, int keyBytes, long valueBytes) {
        return BlockFormat.valueAt(extensionBytes, keyBytes) + valueBytes > (long) mostUnits * BlockFormat.UNIT_BYTES;
    }

    private static int mostBytes(int extensionBytes) {
        return mostUnits * BlockFormat.UNIT_BYTES - valueAt(extensionBytes);
    }

    /** How many pieces a value has. */
    public static int count(int extensionBytes, int valueBytes) {
        return Math.ceilDiv(valueBytes, mostBytes(extensionBytes));
    }

    /**
     * The least number of segments that hold the pieces of a value and their index, if nothing else were in them.
     *
     * @param segmentUnits units of a segment
     */
    public static long leastSegments(int extensionBytes, int valueBytes, int segmentUnits) {
        int largest = valueBytes / mostBytes(extensionBytes);
        int others = count(extensionBytes, valueBytes) - largest + 1;
        int ofSegment = segmentUnits / SizeClasses.units(SizeClasses.of(mostUnits));
        if (ofSegment == 0) {
            return Long.MAX_VALUE;
        }
        int segments = Math.ceilDiv(largest, ofSegment);
        // The smaller blocks may fit into the rest of the last segment.
        return segments * ofSegment - largest >= others ? segments : segments + 1L;
    }

    /** How many bytes of the value the piece with this number has. */
    public static int bytesOf(int extensionBytes, int valueBytes, int number) {
        return Math.min(mostBytes(extensionBytes), valueBytes - startOf(extensionBytes, number));
    }

    /** The offset in the value at which a piece begins. */
    public static int startOf(int extensionBytes, int number) {
        return number * mostBytes(extensionBytes);
    }

    /** The units of a block that has so many bytes of a value. */
    public static int unitsOf(int extensionBytes, int bytes) {
        return BlockFormat.units(extensionBytes, KEY_BYTES, bytes);
    }

    /** The offset in a piece at which its part of the value begins. */
    public static int valueAt(int extensionBytes) {
        return BlockFormat.valueAt(extensionBytes, KEY_BYTES);
    }

    /**
     * Completes a block as a piece; its part of the value is in its place already.
     *
     * @param object the first words of the index, which are prepared
     * @param hash of the object's key
     * @param checksum of the map
     */
    public static void seal(
            long block, long object, long hash, int number, int bytes, int incarnation, BlockChecksum checksum) {
        int extensionBytes = BlockFormat.extensionBytes(ALL, object);
        BlockFormat.preparePiece(ALL, block, extensionBytes, KEY_BYTES, bytes, BlockFormat.version(ALL, object), hash);
        ALL.set(JAVA_LONG, block + BlockFormat.keyAt(extensionBytes), number);
        BlockFormat.seal(ALL, block, incarnation, checksum);
    }

    /** Whether a copy of a block is the piece that an index names. */
    public static boolean isPiece(long block, long word, long index, int number, BlockChecksum checksum) {
        int most = SlotWord.units(word) * BlockFormat.UNIT_BYTES;
        return BlockFormat.whole(ALL, block, most, SlotWord.incarnation(word), checksum)
                && BlockFormat.kind(ALL, block) == BlockFormat.PIECE
                && BlockFormat.version(ALL, block) == BlockFormat.version(ALL, index)
                && ALL.get(JAVA_LONG, block + BlockFormat.keyAt(BlockFormat.extensionBytes(ALL, block))) == number;
    }

    /** The length of an index's value, in bytes. */
    public static int indexBytes(int pieces) {
        return Long.BYTES + pieces * Long.BYTES;
    }

    /** The least units of the block of an index. */
    public static int indexUnits(int extensionBytes, int keyBytes, int valueBytes) {
        int units = BlockFormat.units(extensionBytes, keyBytes, indexBytes(count(extensionBytes, valueBytes)));
        int bits = Integer.SIZE - Integer.numberOfLeadingZeros(valueBytes - 1);
        return Math.max(units, INDEX_UNITS[Math.max(0, bits - FIRST_BITS)]);
    }

    /** The size of a live word's object in units of 64 bytes; an estimate if it has pieces. */
    public static int objectUnits(long word) {
        int units = SlotWord.units(word);
        if (!SlotWord.isIndex(word)) {
            return units;
        }
        if (units == SlotWord.MOST_UNITS) {
            // The block is larger than it had to be, as no other was free: it does not tell the size.
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

    /** Writes the length of the object's value into an index. */
    public static void setValueBytes(long index, int bytes) {
        ALL.set(JAVA_LONG, list(index), bytes);
    }

    /** Writes the word of a piece into an index. */
    public static void setPiece(long index, int number, long word) {
        ALL.set(JAVA_LONG, list(index) + Long.BYTES + (long) number * Long.BYTES, word);
    }

    /**
     * How many pieces a whole block lists.
     *
     * @return 0 if the block is not an index
     */
    public static int countOf(long index) {
        int bytes = BlockFormat.valueBytes(ALL, index);
        if (BlockFormat.kind(ALL, index) != BlockFormat.INDEX || bytes % Long.BYTES != 0) {
            return 0;
        }
        return Math.max(0, bytes / Long.BYTES - 1);
    }

    /** The length of the value of an index's object, in bytes. */
    public static long valueBytes(long index) {
        return ALL.get(JAVA_LONG, list(index));
    }

    /**
     * The word of a piece that an index names. It is always a block's word, whatever another process has written there.
     */
    public static long piece(long index, int number) {
        long word = ALL.get(JAVA_LONG, list(index) + Long.BYTES + (long) number * Long.BYTES);
        return SlotWord.block(word);
    }
}
