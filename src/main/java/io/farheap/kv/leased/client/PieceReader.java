package io.farheap.kv.leased.client;

import io.farheap.kv.leased.format.LeasedBlock;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.LeasedPieces;
import io.farheap.kv.space.GrowingMemory;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The pieces of a value whose index was read, until the value has been handed over. One request of a session has it at
 * a time, the oldest that has not ended; so a request that is handed over first never waits for a later one. The
 * session's thread.
 */
final class PieceReader implements AutoCloseable {

    /** READs that are in flight at a time. */
    static final int WINDOW = 16;

    /** From one copy of a piece to the next. */
    private static final int STRIDE = LeasedCalls.MOST_BLOCK_BYTES;

    private final LeasedSpace space;
    /** The copies. */
    final GrowingMemory memory;

    private @Nullable RegisteredBuffer copies;
    private int place = LeasedPlaces.NO_PLACE;
    /** The number of the shard that has the pieces. */
    private int shard;

    private MemorySegment index = MemorySegment.NULL;
    private long list;
    private int bytes;
    private int count;
    private int posted;
    private int pending;
    private boolean failed;

    PieceReader(RemoteMemory remote, LeasedSpace space) {
        this.space = space;
        memory = new GrowingMemory(remote);
    }

    boolean isFree() {
        return place == LeasedPlaces.NO_PLACE;
    }

    boolean isOf(int request) {
        return place == request;
    }

    /**
     * Begins with an index, which has been read and stays until the request ends.
     *
     * @param pointer of the index
     * @param at offset of its copy
     * @return false if this process has no memory for the value; the reader is unchanged then
     */
    boolean begin(int request, RemotePointer pointer, MemorySegment copy, long at) {
        int pieces = LeasedPieces.count(pointer.valueBytes);
        RegisteredBuffer into = memory.atLeast((long) pieces * STRIDE);
        if (into == null) {
            return false;
        }
        copies = into;
        place = request;
        shard = LeasedCalls.shard(pointer.place);
        index = copy;
        list = at + LeasedBlock.valueAt(pointer.keyBytes);
        bytes = pointer.valueBytes;
        count = pieces;
        posted = 0;
        failed = false;
        return true;
    }

    private long blockPlace(int number) {
        return LeasedCalls.place(shard, LeasedPieces.unit(index, list, number));
    }

    /**
     * Posts the next READs, as many as there is room for.
     *
     * @return one of {@link PostResult}, of the last of them
     */
    int post(RemoteQueue queue, long tag) {
        RegisteredBuffer into = copies;
        if (into == null) {
            return PostResult.INVALID;
        }
        while (posted < count && pending < WINDOW) {
            long from = blockPlace(posted);
            int length = LeasedPieces.bytesOf(bytes, posted);
            if (!space.has(from, 0, length)) {
                failed = true;
                return PostResult.INVALID;
            }
            int result = queue.read(
                    space.region(from),
                    space.offset(from),
                    into,
                    (long) posted * STRIDE,
                    LeasedBlock.bytes(0, length),
                    tag);
            if (result != PostResult.OK) {
                failed |= result != PostResult.FULL;
                return result;
            }
            posted++;
            pending++;
        }
        return PostResult.OK;
    }

    /** A READ has ended. */
    void ended(boolean done) {
        pending--;
        failed |= !done;
    }

    int pending() {
        return pending;
    }

    /** Whether a READ has failed. */
    boolean hasFailed() {
        return failed;
    }

    boolean hasMore() {
        return posted < count;
    }

    /**
     * Joins the pieces, which have all been read.
     *
     * @return false if a block is another object's by now
     */
    boolean join() {
        MemorySegment value = value();
        long first = LeasedPieces.firstIncarnation(index, list);
        for (int number = 0; number < count; number++) {
            long block = (long) number * STRIDE;
            int length = LeasedPieces.bytesOf(bytes, number);
            if (!LeasedBlock.isWhole(value, block, first + number, 0, length, space.checksum())) {
                return false;
            }
            // The target ends before the next piece begins.
            MemorySegment.copy(value, block + LeasedBlock.HEADER_BYTES, value, LeasedPieces.startOf(number), length);
        }
        return true;
    }

    /** The memory that has the value, from its first byte on. */
    MemorySegment value() {
        RegisteredBuffer from = copies;
        if (from == null) {
            throw new IllegalStateException("no value has been read");
        }
        return from.segment();
    }

    /** The request no longer needs the reader, and none of its READs is in flight. */
    void release() {
        place = LeasedPlaces.NO_PLACE;
    }

    @Override
    public void close() {
        memory.close();
    }
}
