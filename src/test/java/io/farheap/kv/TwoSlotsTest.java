package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.Posting;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** A key that an insertion has left in two slots, with an older value in the higher one, in a map that is full. */
class TwoSlotsTest {

    private static final int REGION_BYTES = 256 << 10;
    /** Its blocks are the largest, so there are twelve. */
    private static final int VALUE_BYTES = 16_000;

    private static final int HIGHER_SLOT = 9;
    private static final int OTHERS = 100;

    private static byte[] key(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    private static byte[] value(int of) {
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, (byte) of);
        return value;
    }

    @Test
    void theHigherOneIsEvictedFirst() {
        try (TestSpace space = new TestSpace(1, 1, REGION_BYTES, 1, CachePolicy.of("lru"));
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                Session first = space.map.openSession();
                Session second = space.map.openSession()) {
            long[] slots = new long[2];
            for (int i = 0; i < slots.length; i++) {
                first.set(key(0), value(i));
                slots[i] = word(space, queue, memory, 0);
            }
            assertNotEquals(slots[0], slots[1]);
            // The first session keeps the older block free, and uses none any more. Its slot was read last.
            MemorySegment slot = memory.segment().asSlice(Slot.offset(0), Slot.BYTES);
            slot.set(JAVA_LONG, 0, slots[0]);
            slot.set(JAVA_LONG, Slot.ACCESSED, slot.get(JAVA_LONG, Slot.ACCESSED) + 1);
            long at = space.shape.bucketAt(0) + Slot.offset(HIGHER_SLOT);
            assertEquals(Posting.DONE, queue.execute(true, space.regions.getFirst(), at, memory, 0, Slot.BYTES, 0));
            boolean gone = false;
            for (int other = 1; other <= OTHERS && !gone; other++) {
                second.set(key(other), value(other));
                gone = word(space, queue, memory, 0) != slots[1];
                assertTrue(!gone || word(space, queue, memory, HIGHER_SLOT) != slots[0], "the older value is back");
            }
            assertTrue(gone, "nothing was evicted");
            assertNull(second.get(key(0)));
        }
    }

    private static long word(TestSpace space, RemoteQueue queue, RegisteredBuffer memory, int slot) {
        long at = space.shape.bucketAt(0);
        assertEquals(
                Posting.DONE,
                queue.execute(false, space.regions.getFirst(), at, memory, 0, SpaceShape.BUCKET_BYTES, 0));
        return Bucket.word(memory.segment().address(), slot);
    }
}
