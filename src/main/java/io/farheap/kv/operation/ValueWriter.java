package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.HeldBlocks;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.SizeClasses;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.space.GrowingMemory;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;
import io.farheap.memory.MappedFaults;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The {@linkplain ValuePieces pieces} of a value that is being stored, from the request's issue to its end. One request
 * of a session has the writer at a time. One thread, except for {@link #held}.
 */
public final class ValueWriter implements AutoCloseable {

    /** Pieces that are written at a time. */
    public static final int WINDOW = 16;

    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle PIECES;

    static {
        try {
            PIECES = MethodHandles.lookup().findVarHandle(ValueWriter.class, "pieces", long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final BlockAllocator allocator;
    public final GrowingMemory memory;
    private final int extensionBytes;
    private final BlockChecksum checksum;
    /** The local copies of the pieces, {@link RequestColumns#MOST_BLOCK_BYTES} apart. */
    private @Nullable RegisteredBuffer blocks;

    private int place = Bucket.NONE;
    private int bytes;
    private int count;
    private int taken;
    private int written;
    /** The blocks that were taken for the pieces; other threads see those that are held. */
    private long[] pieces = new long[0];

    /** @param checksum of the map's blocks */
    public ValueWriter(
            RemoteMemory remote,
            RequestColumns operations,
            RequestPoster posts,
            BlockAllocator allocator,
            int extensionBytes,
            BlockChecksum checksum) {
        this.operations = operations;
        this.posts = posts;
        this.allocator = allocator;
        this.memory = new GrowingMemory(remote);
        this.extensionBytes = extensionBytes;
        this.checksum = checksum;
    }

    public boolean isFree() {
        return place == Bucket.NONE;
    }

    boolean isOf(int request) {
        return place == request;
    }

    /**
     * Copies the value of a request that is about to be issued.
     *
     * @return false if this process has no memory for it; the writer is unchanged then
     */
    public boolean begin(int request, MemorySegment value, long from, int valueBytes) {
        int pieceCount = ValuePieces.count(extensionBytes, valueBytes);
        RegisteredBuffer into = memory.atLeast((long) pieceCount * RequestColumns.MOST_BLOCK_BYTES);
        if (into == null) {
            return false;
        }
        for (int i = 0; i < pieceCount; i++) {
            MemorySegment.copy(
                    value,
                    from + ValuePieces.startOf(extensionBytes, i),
                    into.segment(),
                    at(i) + ValuePieces.valueAt(extensionBytes),
                    ValuePieces.bytesOf(extensionBytes, valueBytes, i));
        }
        MappedFaults.raise(value);
        if (pieces.length < pieceCount) {
            PIECES.setRelease(this, new long[pieceCount]);
        }
        blocks = into;
        place = request;
        bytes = valueBytes;
        count = pieceCount;
        taken = 0;
        written = 0;
        return true;
    }

    private static long at(int number) {
        return (long) number * RequestColumns.MOST_BLOCK_BYTES;
    }

    /** The bytes of the value. */
    int valueBytes() {
        return bytes;
    }

    /** Whether all pieces have blocks. */
    boolean hasAll() {
        return taken == count;
    }

    /**
     * Called after a wait for room, in which the request counted as one that knows of no block. If one of its pieces is
     * on a server that is to leave the map since, the request gives all blocks back and starts again.
     *
     * @return whether it does
     */
    boolean restarts() {
        boolean usable = true;
        for (int i = 0; i < taken; i++) {
            usable &= allocator.mayUse(pieces[i]);
        }
        if (usable) {
            return false;
        }
        for (int i = taken - 1; i >= 0; i--) {
            allocator.giveBack(pieces[i]);
            WORDS.setRelease(pieces, i, BlockAllocator.NONE);
        }
        taken = 0;
        written = 0;
        return true;
    }

    /** The size class of the block that is needed next. */
    int nextClass() {
        return SizeClasses.of(ValuePieces.unitsOf(extensionBytes, ValuePieces.bytesOf(extensionBytes, bytes, taken)));
    }

    /** Takes a block for the next piece. */
    void takes(long block) {
        WORDS.setRelease(pieces, taken++, block);
        allocator.emptyHand();
    }

    /**
     * Posts the next pieces.
     *
     * @return whether there were any
     */
    boolean write() {
        RegisteredBuffer from = blocks;
        if (written == count || from == null) {
            return false;
        }
        int end = Math.min(count, written + WINDOW);
        posts.beginList();
        for (; written < end; written++) {
            long word = pieces[written];
            int length = ValuePieces.bytesOf(extensionBytes, bytes, written);
            ValuePieces.seal(
                    from.segment().address() + at(written),
                    operations.blockCopy(place),
                    operations.hash[place],
                    written,
                    length,
                    SlotWord.incarnation(word),
                    checksum);
            posts.writePiece(place, word, from, at(written), ValuePieces.valueAt(extensionBytes) + length);
        }
        posts.endList();
        return true;
    }

    /** Fills the request's own block, an index, with the words of the pieces. */
    void fillIndex() {
        long index = operations.blockCopy(place);
        ValuePieces.setValueBytes(index, bytes);
        for (int i = 0; i < count; i++) {
            ValuePieces.setPiece(index, i, pieces[i]);
        }
    }

    /** A slot names the index, so the pieces belong to the object. */
    void stored() {
        clear();
    }

    /** No slot names the index, and none will: gives the pieces back. */
    void giveBack() {
        for (int i = 0; i < taken; i++) {
            allocator.giveBack(pieces[i]);
        }
        clear();
    }

    /**
     * The request cannot continue.
     *
     * @param piece receives each block of a piece
     */
    void end(LongConsumer piece) {
        for (int i = 0; i < taken; i++) {
            piece.accept(pieces[i]);
        }
        clear();
    }

    /** Starts the WRITEs of the pieces again, as it is unknown whether they were done. */
    void rewind() {
        written = 0;
    }

    private void clear() {
        for (int i = 0; i < taken; i++) {
            WORDS.setRelease(pieces, i, BlockAllocator.NONE);
        }
        taken = 0;
        place = Bucket.NONE;
    }

    /** Adds the blocks that no slot names yet. Any thread. */
    public void held(HeldBlocks into) {
        long[] present = (long[]) PIECES.getAcquire(this);
        for (int i = 0; i < present.length; i++) {
            into.add((long) WORDS.getAcquire(present, i));
        }
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
