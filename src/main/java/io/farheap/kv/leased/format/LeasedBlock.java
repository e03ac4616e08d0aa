package io.farheap.kv.leased.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * A block of a leased map: memory of a shard, in units of 64 bytes, that holds one object. Little-endian. The shard's
 * thread alone writes it; clients READ it at any time, and a copy tells by itself what it is.
 *
 * <pre>
 *  0  u64  mark: incarnation (bits 0..47), state (48..49)
 *  8  u64  of the shard alone, outside the checksum: the object's entry, or the next free block
 * 16  u64  checksum of the words below, the key and the value, seeded with the incarnation: {@link BlockChecksum}
 * 24  u16  bytes of the key, 1 to 1,024; 0 of a piece
 * 28  u32  bytes of the value
 * 32  u64  version
 * 40       the key, padded to 8 bytes with zeros
 *          the value; or, if that is too long, the list of its {@linkplain LeasedPieces pieces}
 * </pre>
 *
 * <p>The mark is one word. Within one incarnation its state goes from {@link #UNBORN} to {@link #LIVE} to {@link #DEAD}
 * and never back. No incarnation comes back in a shard: they are numbers that the shard counts up, and not of the
 * place. So a copy is the object of a pointer exactly if its mark has the pointer's incarnation and says live, and its
 * checksum is right.
 */
public final class LeasedBlock {

    public static final int UNIT_BYTES = BlockFormat.UNIT_BYTES;
    /** The offset of the key. */
    public static final int HEADER_BYTES = 40;

    /** Of a block that is being written. */
    public static final int UNBORN = 0;
    /** Of a key's object. */
    public static final int LIVE = 1;
    /** Of a block that is no key's object any more. */
    public static final int DEAD = 2;

    private static final int INCARNATION_BITS = 48;
    /** The last incarnation of a shard. */
    public static final long LAST_INCARNATION = (1L << INCARNATION_BITS) - 1;

    private static final long MARK = 0;
    private static final long LINK = 8;
    private static final long CHECKSUM = 16;
    private static final long LENGTHS = 24;
    private static final long VERSION = 32;
    private static final int VALUE_SHIFT = 32;

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private LeasedBlock() {}

    /** The offset of the value in a block. */
    public static int valueAt(int keyBytes) {
        return HEADER_BYTES + BlockFormat.padded(keyBytes);
    }

    /** How many bytes of a block are used. @param valueBytes if they need pieces, the block is their index */
    public static int bytes(int keyBytes, int valueBytes) {
        return valueAt(keyBytes)
                + (LeasedPieces.needed(keyBytes, valueBytes) ? LeasedPieces.listBytes(valueBytes) : valueBytes);
    }

    /** How many units a block needs. */
    public static int units(int keyBytes, int valueBytes) {
        return Math.ceilDiv(bytes(keyBytes, valueBytes), UNIT_BYTES);
    }

    /** The mark of an incarnation and a state. */
    public static long mark(long incarnation, int state) {
        return incarnation | (long) state << INCARNATION_BITS;
    }

    /** The incarnation of a mark. */
    public static long incarnation(long mark) {
        return mark & LAST_INCARNATION;
    }

    /** The mark of a block, or of a copy. @param at offset of the block, a multiple of 8 */
    public static long markAt(MemorySegment memory, long at) {
        return (long) WORD.getAcquire(memory, at + MARK);
    }

    /**
     * Stores the mark: everything stored before is in memory when it is, and a READ that is posted after this has
     * returned, and its thread has passed a fence, finds it.
     */
    public static void setMark(MemorySegment memory, long at, long mark) {
        WORD.setRelease(memory, at + MARK, mark);
    }

    /** The word of the shard. */
    public static long link(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG, at + LINK);
    }

    public static void setLink(MemorySegment memory, long at, long link) {
        memory.set(JAVA_LONG, at + LINK, link);
    }

    /**
     * Writes all but the mark and the shard's word; the checksum last.
     *
     * @param key holds the key from {@code keyFrom} on
     * @param value holds the value from {@code valueFrom} on
     */
    public static void write(
            MemorySegment memory,
            long at,
            long incarnation,
            long version,
            MemorySegment key,
            long keyFrom,
            int keyBytes,
            MemorySegment value,
            long valueFrom,
            int valueBytes,
            BlockChecksum checksum) {
        MemorySegment.copy(value, valueFrom, memory, at + valueAt(keyBytes), valueBytes);
        writeHead(memory, at, incarnation, version, key, keyFrom, keyBytes, valueBytes, checksum);
    }

    /** The same of a block that has its value, or the list of its pieces, already. */
    public static void writeHead(
            MemorySegment memory,
            long at,
            long incarnation,
            long version,
            MemorySegment key,
            long keyFrom,
            int keyBytes,
            int valueBytes,
            BlockChecksum checksum) {
        memory.set(JAVA_LONG, at + LENGTHS, keyBytes | (long) valueBytes << VALUE_SHIFT);
        memory.set(JAVA_LONG, at + VERSION, version);
        memory.set(JAVA_LONG, at + HEADER_BYTES + (keyBytes - 1 & ~7), 0);
        MemorySegment.copy(key, keyFrom, memory, at + HEADER_BYTES, keyBytes);
        memory.set(JAVA_LONG, at + CHECKSUM, checksum(memory, at, incarnation, keyBytes, valueBytes, checksum));
    }

    /** Writes all but the mark, the shard's word and the bytes of a piece, which it has already. */
    public static void writePiece(MemorySegment memory, long at, long incarnation, int bytes, BlockChecksum checksum) {
        memory.set(JAVA_LONG, at + LENGTHS, (long) bytes << VALUE_SHIFT);
        memory.set(JAVA_LONG, at + VERSION, 0);
        memory.set(JAVA_LONG, at + CHECKSUM, checksum(memory, at, incarnation, 0, bytes, checksum));
    }

    private static long checksum(
            MemorySegment memory, long at, long incarnation, int keyBytes, int valueBytes, BlockChecksum checksum) {
        int covered = bytes(keyBytes, valueBytes) - (int) LENGTHS;
        return checksum.of(memory, at + LENGTHS, covered, incarnation);
    }

    /** Whether a copy, of as many bytes as {@link #bytes} says, is the whole, live block of an incarnation. */
    public static boolean isLive(
            MemorySegment memory, long at, long incarnation, int keyBytes, int valueBytes, BlockChecksum checksum) {
        return memory.get(JAVA_LONG, at + MARK) == mark(incarnation, LIVE)
                && isWhole(memory, at, incarnation, keyBytes, valueBytes, checksum);
    }

    /**
     * Whether a copy, of as many bytes as {@link #bytes} says, is the whole block of an incarnation, whatever its state
     * says: then it has the bytes that were stored under that incarnation.
     */
    public static boolean isWhole(
            MemorySegment memory, long at, long incarnation, int keyBytes, int valueBytes, BlockChecksum checksum) {
        return incarnation(memory.get(JAVA_LONG, at + MARK)) == incarnation
                && keyBytes(memory, at) == keyBytes
                && valueBytes(memory, at) == valueBytes
                && memory.get(JAVA_LONG, at + CHECKSUM)
                        == checksum(memory, at, incarnation, keyBytes, valueBytes, checksum);
    }

    public static int keyBytes(MemorySegment memory, long at) {
        return (int) memory.get(JAVA_LONG, at + LENGTHS) & 0xFFFF;
    }

    public static int valueBytes(MemorySegment memory, long at) {
        return (int) (memory.get(JAVA_LONG, at + LENGTHS) >>> VALUE_SHIFT);
    }

    public static long version(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG, at + VERSION);
    }

    /** Whether the block has this key. @param from offset of the key in {@code key} */
    public static boolean hasKey(MemorySegment memory, long at, MemorySegment key, long from, int keyBytes) {
        return keyBytes(memory, at) == keyBytes
                && MemorySegment.mismatch(
                                memory, at + HEADER_BYTES, at + HEADER_BYTES + keyBytes, key, from, from + keyBytes)
                        < 0;
    }
}
