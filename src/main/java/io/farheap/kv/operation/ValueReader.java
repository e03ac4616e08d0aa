package io.farheap.kv.operation;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.GrowingMemory;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The {@linkplain ValuePieces pieces} of a value that was found, until the value has been handed over. One request of a
 * session has the reader at a time, the oldest that has not ended; so a request that is handed over first never waits
 * for a later one. One thread.
 */
public final class ValueReader implements AutoCloseable {

    /** Pieces that are read at a time. */
    public static final int WINDOW = 16;

    static final int BEGUN = 0;
    static final int NO_INDEX = 1;
    static final int NO_MEMORY = 2;

    private static final MemorySegment ALL = NativeMemory.ALL;

    private final RequestColumns operations;
    private final RequestPoster posts;
    public final GrowingMemory memory;
    private final BlockChecksum checksum;
    private final boolean[] waits;
    private int waiting;
    private int place = Bucket.NONE;
    private @Nullable RegisteredBuffer blocks;
    private int count;
    private int read;
    /** The bytes of the value. */
    private int bytes;

    /** @param checksum of the map's blocks */
    public ValueReader(RemoteMemory remote, RequestColumns operations, RequestPoster posts, BlockChecksum checksum) {
        this.operations = operations;
        this.posts = posts;
        this.checksum = checksum;
        this.memory = new GrowingMemory(remote);
        waits = new boolean[operations.count];
    }

    public boolean isOf(int request) {
        return place == request;
    }

    /**
     * Gives the reader to a request, or makes the request wait, which counts as one of its pending operations.
     *
     * @return whether the request has it
     */
    boolean take(int request) {
        if (place == request || place == Bucket.NONE && operations.isOldestUndone(request)) {
            place = request;
            return true;
        }
        waits[request] = true;
        waiting++;
        operations.pending[request]++;
        return false;
    }

    /**
     * Takes a waiting request that may have the reader now; its wait was one of its pending operations.
     *
     * @return its place, or {@link Bucket#NONE}
     */
    public int nextWoken() {
        if (waiting == 0 || place != Bucket.NONE) {
            return Bucket.NONE;
        }
        int oldest = operations.oldestUndone();
        if (oldest == Bucket.NONE || !waits[oldest]) {
            return Bucket.NONE;
        }
        waits[oldest] = false;
        waiting--;
        return oldest;
    }

    /**
     * Begins with the request's index, which has been read.
     *
     * @return {@link #BEGUN}; {@link #NO_INDEX} if the block cannot be an index; {@link #NO_MEMORY} if there is no
     *     memory for such a long value
     */
    int begin() {
        long index = operations.blockCopy(place);
        count = ValuePieces.countOf(index);
        long valueBytes = count == 0 ? 0 : ValuePieces.valueBytes(index);
        if (valueBytes < 1 || valueBytes > ValuePieces.MOST_VALUE_BYTES) {
            return NO_INDEX;
        }
        bytes = (int) valueBytes;
        read = 0;
        RegisteredBuffer into = memory.atLeast(at(count));
        if (into == null) {
            return NO_MEMORY;
        }
        blocks = into;
        return BEGUN;
    }

    private static long at(int number) {
        return (long) number * RequestColumns.MOST_BLOCK_BYTES;
    }

    /**
     * Posts the next READs.
     *
     * @return whether there were any
     */
    boolean readMore() {
        RegisteredBuffer into = blocks;
        if (read == count || into == null) {
            return false;
        }
        long index = operations.blockCopy(place);
        int end = Math.min(count, read + WINDOW);
        posts.beginList();
        for (; read < end; read++) {
            long at = at(read);
            // If the READ cannot be posted, the memory has an incarnation that no block has.
            ALL.set(JAVA_LONG, into.segment().address() + at, 0);
            posts.readBlock(place, ValuePieces.piece(index, read), into, at);
        }
        posts.endList();
        return true;
    }

    /**
     * Joins the pieces, which have all been read.
     *
     * @return false if one has changed since the index was found
     */
    boolean join() {
        RegisteredBuffer from = blocks;
        if (from == null) {
            return false;
        }
        long index = operations.blockCopy(place);
        long joined = 0;
        for (int i = 0; i < count; i++) {
            long block = from.segment().address() + at(i);
            if (!ValuePieces.isPiece(block, ValuePieces.piece(index, i), index, i, checksum)) {
                return false;
            }
            int length = BlockFormat.valueBytes(ALL, block);
            long value = at(i) + ValuePieces.valueAt(BlockFormat.extensionBytes(ALL, block));
            // The target ends before the next piece begins.
            MemorySegment.copy(from.segment(), value, from.segment(), joined, length);
            joined += length;
        }
        return joined == bytes;
    }

    /** The memory that has the value, from its first byte on. */
    public MemorySegment value() {
        RegisteredBuffer from = blocks;
        if (from == null) {
            throw new IllegalStateException("no value has been read");
        }
        return from.segment();
    }

    public int bytes() {
        return bytes;
    }

    /** The request no longer needs the reader. */
    public void release() {
        place = Bucket.NONE;
    }

    /** See {@link GrowingMemory#tidy}. */
    public void tidy() {
        memory.tidy();
    }

    @Override
    public void close() {
        memory.close();
    }
}
