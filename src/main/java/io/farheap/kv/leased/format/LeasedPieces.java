package io.farheap.kv.leased.format;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.ValuePieces;
import java.lang.foreign.MemorySegment;

/**
 * Objects whose value does not fit into one block beside its key. Such an object's block is an index: in place of the
 * value it has the list of the blocks that have its pieces, all in the same shard. A piece is a block without a key and
 * without a version. Pieces have incarnations of their own, one after another, and no other object names them; so a
 * copy of a piece that has its incarnation and a right checksum has that piece's bytes, whatever became of the object.
 *
 * <pre>
 * an index, in place of the value
 *  0  u64  incarnation of the first piece; that of piece n is higher by n
 *  8  u32  unit of the first piece
 * 12       units of the other pieces
 * </pre>
 */
public final class LeasedPieces {

    /** The most bytes of a value. */
    public static final int MOST_VALUE_BYTES = ValuePieces.MOST_VALUE_BYTES;
    /** The bytes of each piece but the last. */
    public static final int PIECE_BYTES = LeasedCalls.MOST_BLOCK_BYTES - LeasedBlock.HEADER_BYTES;

    private static final int FIRST = 0;
    private static final int UNITS = Long.BYTES;

    private LeasedPieces() {}

    /** Whether an object needs pieces. */
    public static boolean needed(int keyBytes, long valueBytes) {
        return LeasedBlock.HEADER_BYTES + BlockFormat.padded(keyBytes) + valueBytes > LeasedCalls.MOST_BLOCK_BYTES;
    }

    /** How many pieces a value has. */
    public static int count(int valueBytes) {
        return Math.ceilDiv(valueBytes, PIECE_BYTES);
    }

    /** The offset in the value at which a piece begins. */
    public static int startOf(int number) {
        return number * PIECE_BYTES;
    }

    /** How many bytes of the value a piece has. */
    public static int bytesOf(int valueBytes, int number) {
        return Math.min(PIECE_BYTES, valueBytes - startOf(number));
    }

    /** The size class of the block of a piece. */
    public static int sizeClass(int valueBytes, int number) {
        return SizeClasses.of(
                Math.ceilDiv(LeasedBlock.HEADER_BYTES + bytesOf(valueBytes, number), LeasedBlock.UNIT_BYTES));
    }

    /** The bytes of the blocks of all pieces. */
    public static long blockBytes(int valueBytes) {
        int last = count(valueBytes) - 1;
        long units = (long) last * SizeClasses.units(sizeClass(valueBytes, 0))
                + SizeClasses.units(sizeClass(valueBytes, last));
        return units * LeasedBlock.UNIT_BYTES;
    }

    /** The bytes of an index behind its key. */
    static int listBytes(int valueBytes) {
        return UNITS + count(valueBytes) * Integer.BYTES;
    }

    /** Writes the incarnation of the first piece. @param list offset of the list, a multiple of 8 */
    public static void setFirstIncarnation(MemorySegment memory, long list, long incarnation) {
        memory.set(JAVA_LONG, list + FIRST, incarnation);
    }

    /** The incarnation of the first piece. */
    public static long firstIncarnation(MemorySegment memory, long list) {
        return memory.get(JAVA_LONG, list + FIRST);
    }

    /** Writes where a piece is. */
    public static void setUnit(MemorySegment memory, long list, int number, int unit) {
        memory.set(JAVA_INT, list + UNITS + (long) number * Integer.BYTES, unit);
    }

    /** Where a piece is, in the shard. */
    public static int unit(MemorySegment memory, long list, int number) {
        return memory.get(JAVA_INT, list + UNITS + (long) number * Integer.BYTES);
    }

    /** The checksum of a value, of which the parts before one that begins at {@code at} have {@code before}. */
    public static long sum(MemorySegment memory, long at, int bytes, long before, BlockChecksum checksum) {
        return checksum.of(memory, at, bytes, before);
    }

    /**
     * The checksum of a whole value, as its client sends it: that of each piece is the seed of the next one's.
     *
     * @param at offset of its first byte
     */
    public static long sumOfAll(MemorySegment memory, long at, int valueBytes, BlockChecksum checksum) {
        long sum = 0;
        for (int number = 0; number < count(valueBytes); number++) {
            sum = sum(memory, at + startOf(number), bytesOf(valueBytes, number), sum, checksum);
        }
        return sum;
    }
}
