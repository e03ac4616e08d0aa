package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import org.junit.jupiter.api.Test;

/**
 * Two keys of one hash are two keys for requests that read blocks, as they compare keys. A set that finds its key's
 * hash in a slot does not.
 */
class SameHashTest {

    private static final long HASH_IN_BLOCK = 24;

    /** Gives the block of the second slot, which has {@code key}, another hash. */
    private static void rehash(TestSpace space, byte[] key, long hash) {
        try (RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(64 << 10)) {
            RemoteRegion region = space.regions.getFirst();
            long bucketAt = space.shape.bucketAt(0);
            long address = memory.segment().address();
            assertEquals(
                    PostResult.DONE, queue.execute(false, region, bucketAt, memory, 0, SpaceShape.BUCKET_BYTES, 0));
            int slot = Bucket.find(address, TestKeys.hash(key), 1);
            long word = Bucket.word(address, slot);
            long blockAt = SlotWord.place(word) * BlockFormat.UNIT_BYTES;
            int bytes = SlotWord.units(word) * BlockFormat.UNIT_BYTES;
            assertEquals(PostResult.DONE, queue.execute(false, region, blockAt, memory, 0, bytes, 0));
            assertTrue(BlockFormat.isWhole(NativeMemory.ALL, address, word, TestKeys.CHECKSUM));
            memory.segment().set(JAVA_LONG, HASH_IN_BLOCK, hash);
            BlockFormat.seal(NativeMemory.ALL, address, SlotWord.incarnation(word), TestKeys.CHECKSUM);
            assertEquals(PostResult.DONE, queue.execute(true, region, blockAt, memory, 0, bytes, 0));
        }
    }

    @Test
    void theEndOfOneKeysObjectIsNotTheOthers() {
        long[] keys = TestKeys.of(2, true);
        byte[] shortLived = TestKeys.bytes(keys[0]);
        byte[] other = TestKeys.bytes(keys[1]);
        byte[] value = {1, 2, 3};
        try (TestSpace space = new TestSpace(1, 1, 1 << 20, 1);
                MapSession session = space.map.openSession()) {
            session.set(shortLived, value, 1000);
            session.set(other, value);
            rehash(space, other, TestKeys.hash(shortLived));
            space.clock.millis = 2000;
            assertNull(session.get(shortLived));
            assertArrayEquals(value, session.get(other));
        }
    }
}
