package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Requests and drains that need nothing of a lost server, although it has some of the blocks or of the table. */
class LostBlockTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int BYTES = 6000;

    /**
     * A set whose key has a block on the lost server, while the key's bucket and the new block are on another: it reads
     * that block only to learn which key it had.
     */
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

    /** No process has the part of the table any more that names some of its objects. */
    @Test
    void aJoinedServerLeavesAlthoughOneWithThePartOfTheTableIsGone() {
        try (TestSpace space = new TestSpace(2, 1, REGION_BYTES, 1000);
                MapSession session = space.map.openSession()) {
            String joined = space.startServer(1, REGION_BYTES);
            space.map.addServer(joined, REGION_BYTES);
            for (int number = 0; number < 400; number++) {
                session.set(TestServers.key(number), TestServers.value(number, BYTES));
            }
            space.stop(1);
            space.space.gone(1L << 1);
            MapDrain drained = space.map.drain(joined, Duration.ofSeconds(60));
            assertTrue(drained.objects() > 0, drained::toString);
            assertEquals(2, space.map.servers().size());
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
