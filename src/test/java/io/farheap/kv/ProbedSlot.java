package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.testing.Wait;

/** The slot of a key and the block that it names, read and changed without a session. */
final class ProbedSlot implements AutoCloseable {

    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final TestSpace space;
    private final long hash;
    private final RemoteQueue queue;
    private final RegisteredBuffer memory;

    ProbedSlot(TestSpace space, byte[] key) {
        this.space = space;
        hash = TestKeys.hash(key);
        queue = space.memory.openQueue(QueueOptions.DEFAULT.withDepth(1));
        memory = space.memory.register(SpaceShape.BUCKET_BYTES);
    }

    /** Gets a key until the session has a pointer to its object. */
    static void point(MapSession session, byte[] key) {
        long before = hits(session);
        Wait.until(
                () -> {
                    session.get(key);
                    session.poll((tag, status, found, at, bytes) -> {});
                    return hits(session) > before;
                },
                PATIENCE_NANOS,
                "no pointer is kept");
    }

    /** How many gets of a session have found their object by a pointer. */
    static long hits(MapSession session) {
        return session.requests().counts().of(MapSessionCounts.POINTER_HITS);
    }

    /** How many gets of a session had a pointer that led to no current object. */
    static long stale(MapSession session) {
        return session.requests().counts().of(MapSessionCounts.STALE_POINTERS);
    }

    private RemoteRegion bucketRegion() {
        return space.regions.get(space.shape.bucketRegion(hash));
    }

    private void execute(boolean write, RemoteRegion region, long at, int bytes) {
        assertEquals(PostResult.DONE, queue.execute(write, region, at, memory, 0, bytes, 0));
    }

    /** The slot that has the key's fingerprint, and no other key has; {@link Bucket#NONE} if there is none. */
    int slot() {
        execute(false, bucketRegion(), space.shape.bucketAt(hash), SpaceShape.BUCKET_BYTES);
        return Bucket.find(memory.segment().address(), hash, 0);
    }

    /** The slot's word; {@link SlotWord#EMPTY} if no slot has the fingerprint. */
    long word() {
        int slot = slot();
        return slot == Bucket.NONE
                ? SlotWord.EMPTY
                : Bucket.word(memory.segment().address(), slot);
    }

    void store(int slot, long word) {
        memory.segment().set(JAVA_LONG, 0, word);
        execute(true, bucketRegion(), space.shape.bucketAt(hash) + Slot.offset(slot), Long.BYTES);
    }

    /** Writes the word in which the slot has its key's hash, mixed with the slot's word. */
    void storeHash(long mixed) {
        int slot = slot();
        memory.segment().set(JAVA_LONG, 0, mixed);
        execute(true, bucketRegion(), space.shape.bucketAt(hash) + Slot.offset(slot) + Slot.HASH, Long.BYTES);
    }

    /** The expiry that the slot has, in seconds; 0: never. */
    long expirySeconds() {
        return Bucket.expirySeconds(memory.segment().address(), slot());
    }

    /** Begins a move or an eviction of the object. */
    boolean move(MapSession session, int kind, long tag) {
        long slot = MoveSteps.slot(space.shape.bucketRegion(hash), space.shape.bucketOf(hash), slot());
        return session.requests().move(kind, slot, word(), tag);
    }

    private RemoteRegion blockRegion(long word) {
        return space.space.regionOf(SlotWord.place(word));
    }

    private long blockAt(long word) {
        return (SlotWord.place(word) & (1L << space.shape.placeShift()) - 1) * BlockFormat.UNIT_BYTES;
    }

    /** Whether the slot and the block that it names are on two servers. */
    boolean isApart() {
        return blockRegion(word()).server() != bucketRegion().server();
    }

    /** The mark of the block of a word. */
    long mark(long word) {
        execute(false, blockRegion(word), blockAt(word), Long.BYTES);
        return memory.segment().get(JAVA_LONG, 0);
    }

    boolean isMarked(long word) {
        return mark(word) == BlockFormat.marked(SlotWord.incarnation(word));
    }

    void setMark(long word, long mark) {
        memory.segment().set(JAVA_LONG, 0, mark);
        execute(true, blockRegion(word), blockAt(word), Long.BYTES);
    }

    @Override
    public void close() {
        Closeables.all(queue, memory);
    }
}
