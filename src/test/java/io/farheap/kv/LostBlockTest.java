package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import org.junit.jupiter.api.Test;

/** A set whose key has a block on a lost server, while the key's bucket and the new block are on another server. */
class LostBlockTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int BYTES = 6000;

    /** The set reads that block only to learn which key it had. */
    @Test
    void isDoneWithoutThatBlock() {
        try (TestSpace space = new TestSpace(2, 1, REGION_BYTES, 1000);
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                MapSession session = space.map.openSession()) {
            byte[] set = null;
            byte[] other = null;
            for (int number = 0; set == null || other == null; number++) {
                byte[] key = TestServers.key(number);
                session.set(key, TestServers.value(number, BYTES));
                long hash = TestKeys.hash(key);
                int table = space.shape.bucketRegion(hash);
                int block = space.space.serverOf(word(space, queue, memory, hash));
                set = table == 0 && block == 1 ? key : set;
                other = block == 0 ? key : other;
            }
            // The deleted object's block is the free one of that size that the session takes first.
            session.delete(other);
            space.stop(1);
            byte[] value = TestServers.value(-1, BYTES);
            session.set(set, value);
            assertArrayEquals(value, session.get(set));
        }
    }

    private static long word(TestSpace space, RemoteQueue queue, RegisteredBuffer memory, long hash) {
        long at = space.shape.bucketAt(hash);
        var region = space.regions.get(space.shape.bucketRegion(hash));
        int posting = queue.execute(false, region, at, memory, 0, SpaceShape.BUCKET_BYTES, 0);
        assertEquals(PostResult.DONE, posting);
        long bucket = memory.segment().address();
        return Bucket.word(bucket, Bucket.find(bucket, hash, 0));
    }
}
