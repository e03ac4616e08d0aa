package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.remote.Posting;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** A set whose key has a block on a server that is lost, while table and new block are on another. */
class LostBlockTest {

    private static final long REGION_BYTES = 4 << 20;
    private static final int[] SIZES = {100, 300, 700, 1500, 3000, 6000};

    /** The set looks at that block only to learn whose it was. */
    @Test
    void isDoneWithoutThatBlock() {
        try (TestSpace space = new TestSpace(2, 1, REGION_BYTES, 1000);
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                Session session = space.map.openSession()) {
            byte[] key = keyOnTheFirst(space, memory);
            byte[] there = null;
            byte[] lost = null;
            for (int size : SIZES) {
                byte[] value = new byte[size];
                session.set(key, value);
                boolean first = space.space.serverOf(word(space, queue, memory, key)) == 0;
                there = first ? value : there;
                lost = first ? lost : value;
            }
            assertTrue(there != null && lost != null, "all blocks are on one server");
            session.set(key, lost);
            assertTrue(space.space.serverOf(word(space, queue, memory, key)) == 1);
            space.stop(1);
            session.set(key, there);
            assertArrayEquals(there, session.get(key));
        }
    }

    private static byte[] keyOnTheFirst(TestSpace space, RegisteredBuffer memory) {
        for (int number = 0; ; number++) {
            byte[] key = TestServers.key(number);
            if (space.shape.bucketRegion(hash(memory, key)) == 0) {
                return key;
            }
        }
    }

    private static long hash(RegisteredBuffer memory, byte[] key) {
        memory.segment().copyFrom(MemorySegment.ofArray(key));
        return KeyHash.of(memory.segment(), 0, key.length, 0);
    }

    private static long word(TestSpace space, RemoteQueue queue, RegisteredBuffer memory, byte[] key) {
        long hash = hash(memory, key);
        long at = space.shape.bucketAt(hash);
        int posting = queue.execute(false, space.regions.getFirst(), at, memory, 0, SpaceShape.BUCKET_BYTES, 0);
        assertTrue(posting == Posting.DONE);
        long bucket = memory.segment().address();
        return Bucket.word(bucket, Bucket.find(bucket, hash, 0));
    }
}
