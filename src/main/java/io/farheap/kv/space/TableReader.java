package io.farheap.kv.space;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.ValuePieces;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

/** Reads words and buckets of a map, one after the other, while other sessions use it. One thread. */
public final class TableReader implements AutoCloseable {

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long SLEEP_NANOS = 1_000_000;
    /** Buckets that are read at a time. */
    public static final int MOST_BUCKETS = 96;

    private static final long INDEX_AT = (long) MOST_BUCKETS * SpaceShape.BUCKET_BYTES;
    private static final long WORD_AT = INDEX_AT + RequestColumns.MOST_BLOCK_BYTES;
    private static final long SEGMENT_AT = WORD_AT + Long.BYTES;

    private final SpaceMemory space;
    private final RemoteQueue queue;
    private final KeptBuffer kept;
    private final RegisteredBuffer memory;
    private int outcome;
    /** Whether the latest posting has not ended. */
    private boolean underWay;

    public TableReader(RemoteMemory remote, SpaceMemory space) {
        this(remote, space, 0);
    }

    /** @param segmentBytes of a segment, if {@link #readSegment} will be used */
    public TableReader(RemoteMemory remote, SpaceMemory space, int segmentBytes) {
        this.space = space;
        try (CloseStack stack = new CloseStack()) {
            kept = stack.add(new KeptBuffer(remote, SEGMENT_AT + segmentBytes));
            queue = stack.add(remote.openQueue(QueueOptions.DEFAULT.withDepth(1)));
            stack.keep();
        }
        memory = kept.buffer();
    }

    /**
     * Reads the slots of {@link #MOST_BUCKETS} buckets of a region, or of those that are left.
     *
     * @return how many buckets; then {@link #word} has the words of their slots
     */
    public int readSlots(int region, int bucket) {
        SpaceShape shape = space.shape();
        int buckets = Math.min(MOST_BUCKETS, shape.bucketsPerRegion() - bucket);
        read(space.region(region), shape.bucketAt(bucket), 0, buckets * SpaceShape.BUCKET_BYTES);
        return buckets * SpaceShape.BUCKET_SLOTS;
    }

    /** The word of one of the slots that were read. */
    public long word(int slot) {
        return Bucket.word(memory.segment().address(), slot);
    }

    /** When the object of one of the slots that were read was used last. */
    public long usedLast(int slot) {
        return NativeMemory.ALL.get(JAVA_LONG, memory.segment().address() + Slot.offset(slot) + Slot.ACCESSED);
    }

    /**
     * Reads the index that a word names; the slots that {@link #readSlots} has read stay.
     *
     * @return how many pieces it has, then {@link #piece} has them; 0 if the word has been taken out of the table and
     *     its block is used again
     */
    public int readIndex(long word) {
        long place = SlotWord.place(word);
        if (!space.holdsBlock(word)) {
            return 0;
        }
        read(space.regionOf(place), space.offsetOf(place), INDEX_AT, SlotWord.units(word) * BlockFormat.UNIT_BYTES);
        boolean whole = BlockFormat.isWhole(NativeMemory.ALL, index(), word, space.checksum());
        return whole ? ValuePieces.countOf(index()) : 0;
    }

    /** Reads one bucket; then {@link #word} has its slots. */
    public void readBucket(int region, long bucketAt) {
        read(space.region(region), bucketAt, 0, SpaceShape.BUCKET_BYTES);
    }

    /** Reads a segment's blocks as they are, in any state; then {@link #block} has them. */
    public void readSegment(long place, int bytes) {
        read(space.regionOf(place), space.offsetOf(place), SEGMENT_AT, bytes);
    }

    /** The address that is this many units behind the beginning of the segment that was read last. */
    public long block(int unit) {
        return memory.segment().address() + SEGMENT_AT + (long) unit * BlockFormat.UNIT_BYTES;
    }

    /** Reads the word of a slot again; the slots that {@link #readSlots} has read stay. */
    public long readWord(int region, int bucket, int slot) {
        read(space.region(region), space.shape().bucketAt(bucket) + Slot.offset(slot), WORD_AT, Long.BYTES);
        return NativeMemory.ALL.get(JAVA_LONG, memory.segment().address() + WORD_AT);
    }

    /** The key of the object of the last index that was read whole. */
    public byte[] indexKey() {
        byte[] key = new byte[BlockFormat.keyBytes(NativeMemory.ALL, index())];
        long at = index() + BlockFormat.keyAt(BlockFormat.extensionBytes(NativeMemory.ALL, index()));
        MemorySegment.copy(NativeMemory.ALL, at, MemorySegment.ofArray(key), 0, key.length);
        return key;
    }

    private long index() {
        return memory.segment().address() + INDEX_AT;
    }

    /** The word of a piece of the index that was read last. */
    public long piece(int number) {
        return ValuePieces.piece(index(), number);
    }

    private void read(RemoteRegion region, long offset, long to, int bytes) {
        awaitEarlier();
        if (!done(queue.execute(false, region, offset, memory, to, bytes, 0))) {
            reconnect(region.server());
            require(done(queue.execute(false, region, offset, memory, to, bytes, 0)));
        }
    }

    /** Awaits an earlier operation that took too long, as it may still write to the same memory. */
    private void awaitEarlier() {
        if (underWay) {
            awaitEnd();
        }
    }

    /**
     * Waits for the latest posting.
     *
     * @return whether it was done
     */
    private boolean done(int posting) {
        if (posting == PostResult.DONE) {
            return true;
        }
        if (posting != PostResult.OK) {
            return false;
        }
        underWay = true;
        awaitEnd();
        return outcome == Outcome.DONE;
    }

    /** A connection that has failed once is made again. */
    private void reconnect(RemoteServer server) {
        require(server.lost() == null);
        underWay = true;
        queue.reconnect(server, 0);
        awaitEnd();
        require(outcome == Outcome.DONE);
    }

    private static void require(boolean done) {
        if (!done) {
            throw MapException.of(KvStatus.LOST);
        }
    }

    private void awaitEnd() {
        long started = System.nanoTime();
        while (queue.poll((tag, ended) -> outcome = ended) == 0) {
            if (System.nanoTime() - started > PATIENCE_NANOS) {
                throw MapException.of(KvStatus.LOST);
            }
            queue.await(SLEEP_NANOS);
        }
        underWay = false;
    }

    @Override
    public void close() {
        Closeables.all(queue, kept);
    }
}
