package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.kv.TestSpace;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import java.lang.foreign.MemorySegment;

/** A map whose table is one bucket, and access to the bytes of this bucket. */
public final class OneBucket implements AutoCloseable {

    private static final int REGION_BYTES = 256 << 10;

    public final TestSpace space;
    private final RemoteQueue queue;
    private final RegisteredBuffer memory;

    public OneBucket(EvictionSettings policy) {
        try (CloseStack stack = new CloseStack()) {
            space = stack.add(new TestSpace(1, 1, REGION_BYTES, 1, policy));
            queue = stack.add(space.memory.openQueue(QueueOptions.DEFAULT));
            memory = stack.add(space.memory.register(SpaceShape.BUCKET_BYTES));
            stack.keep();
        }
    }

    /** @return the bytes of the lowest slot */
    public byte[] slot() {
        return slot(0);
    }

    /** @return the bytes of a slot */
    public byte[] slot(int number) {
        word(0);
        return memory.segment().asSlice(Slot.offset(number), Slot.BYTES).toArray(JAVA_BYTE);
    }

    public void write(int slot, byte[] bytes) {
        MemorySegment.copy(bytes, 0, memory.segment(), JAVA_BYTE, 0, bytes.length);
        long at = space.shape.bucketAt(0) + Slot.offset(slot);
        assertEquals(PostResult.DONE, queue.execute(true, space.regions.getFirst(), at, memory, 0, bytes.length, 0));
    }

    public long word(int slot) {
        long at = space.shape.bucketAt(0);
        assertEquals(
                PostResult.DONE,
                queue.execute(false, space.regions.getFirst(), at, memory, 0, SpaceShape.BUCKET_BYTES, 0));
        return Bucket.word(memory.segment().address(), slot);
    }

    @Override
    public void close() {
        Closeables.all(memory, queue, space);
    }
}
