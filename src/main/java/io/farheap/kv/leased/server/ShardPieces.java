package io.farheap.kv.leased.server;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.memory.NativeMemory;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The pieces of the value that a call stores: their entries, in order, until an index names their blocks. The shard's
 * thread.
 */
final class ShardPieces {

    private static final int FIRST = 16;

    private final MemorySegment memory;
    private final long at;
    private final ShardEntries entries;
    private final BlockChecksum checksum;
    private int[] taken = new int[FIRST];
    private int count;
    private long firstIncarnation;

    /** @param at offset of the shard in the memory */
    ShardPieces(MemorySegment memory, long at, ShardEntries entries, BlockChecksum checksum) {
        this.memory = memory;
        this.at = at;
        this.entries = entries;
        this.checksum = checksum;
    }

    void clear() {
        count = 0;
    }

    /** @param first the incarnation of the first piece */
    void begin(long first) {
        count = 0;
        firstIncarnation = first;
    }

    int count() {
        return count;
    }

    int entry(int number) {
        return taken[number];
    }

    /** Adds the entry of the next piece. */
    void add(int entry) {
        if (count == taken.length) {
            taken = Arrays.copyOf(taken, 2 * count);
        }
        taken[count++] = entry;
    }

    private long block(int number) {
        return at + (long) entries.unit(taken[number]) * LeasedBlock.UNIT_BYTES;
    }

    /**
     * Copies a part of a value into the block of its piece.
     *
     * @param value address of the value, which its client may write at the same time
     * @param before the checksum of the copies of the pieces before
     * @return the checksum of these and this copy
     */
    long write(int number, long value, int valueBytes, long before) {
        long block = block(number);
        long incarnation = firstIncarnation + number;
        int bytes = LeasedPieces.bytesOf(valueBytes, number);
        LeasedBlock.setMark(memory, block, LeasedBlock.mark(incarnation, LeasedBlock.UNBORN));
        LeasedBlock.setLink(memory, block, taken[number]);
        MemorySegment.copy(
                NativeMemory.ALL,
                value + LeasedPieces.startOf(number),
                memory,
                block + LeasedBlock.HEADER_BYTES,
                bytes);
        LeasedBlock.writePiece(memory, block, incarnation, bytes, checksum);
        LeasedBlock.setMark(memory, block, LeasedBlock.mark(incarnation, LeasedBlock.LIVE));
        return LeasedPieces.sum(memory, block + LeasedBlock.HEADER_BYTES, bytes, before, checksum);
    }

    /** Writes the list of the pieces. @param list its offset in the shard's memory */
    void list(long list) {
        LeasedPieces.setFirstIncarnation(memory, list, firstIncarnation);
        for (int number = 0; number < count; number++) {
            LeasedPieces.setUnit(memory, list, number, entries.unit(taken[number]));
        }
    }

    /** All pieces belong to an object from now on. */
    void own(int object) {
        for (int number = 0; number < count; number++) {
            entries.setOwner(taken[number], object);
            entries.setState(taken[number], ShardEntries.PIECE);
        }
    }
}
