package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Requests and drains that need nothing of a lost server, although it has some of the blocks or of the table. */
class LostBlockTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int BYTES = 6000;
    private static final int FINGERPRINT = 7;

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

    /**
     * A slot with the key's fingerprint names a block on the lost server: another key's. The key's own slot and block
     * are on the other server.
     */
    @Test
    void anotherKeysObjectHidesNoKey() {
        try (TestSpace space = new TestSpace(2, 1, REGION_BYTES, 1);
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                MapSession session = space.map.openSession()) {
            byte[] other = stored(space, queue, memory, session, 0, 1);
            byte[] key = stored(space, queue, memory, session, 1, 0);
            long word = word(space, queue, memory, TestKeys.hash(other));
            space.stop(1);
            assertArrayEquals(TestKeys.bytes(7), session.get(key));
            assertEquals(OptionalLong.of(8), session.increment(key, 1));
            assertTrue(session.touch(key, 0));
            assertFalse(session.add(key, TestKeys.bytes(1), 0));
            assertTrue(session.replace(key, TestKeys.bytes(2), 0));
            VersionedValue found = Objects.requireNonNull(session.getVersioned(key));
            assertArrayEquals(TestKeys.bytes(2), found.value());
            assertTrue(session.compareAndSet(key, TestKeys.bytes(3), found.version(), 0));
            session.set(key, TestKeys.bytes(4));
            assertArrayEquals(TestKeys.bytes(4), session.get(key));
            assertTrue(session.delete(key));
            // Now the object on the lost server may be the key's.
            assertThrows(MapException.class, () -> session.get(key));
            assertThrows(MapException.class, () -> session.set(key, TestKeys.bytes(5)));
            assertThrows(MapException.class, () -> session.add(key, TestKeys.bytes(5), 0));
            assertThrows(MapException.class, () -> session.replace(key, TestKeys.bytes(5), 0));
            assertThrows(MapException.class, () -> session.increment(key, 1));
            assertThrows(MapException.class, () -> session.touch(key, 0));
            assertThrows(MapException.class, () -> session.delete(key));
            assertThrows(MapException.class, () -> session.get(other));
            assertEquals(word, word(space, queue, memory, TestKeys.hash(other)), "it is not emptied");
        }
    }

    /**
     * Stores the number 7 under a key of the fingerprint, in a certain slot of the only bucket of the first server.
     *
     * @param server that has the object's block: tries keys of several lengths
     */
    private static byte[] stored(
            TestSpace space, RemoteQueue queue, RegisteredBuffer memory, MapSession session, int slot, int server) {
        for (int bytes = Long.BYTES; bytes <= BlockFormat.MOST_KEY_BYTES; bytes += BlockFormat.UNIT_BYTES) {
            byte[] key = keyOf(space, bytes, slot);
            session.set(key, TestKeys.bytes(7));
            if (space.space.serverOf(word(space, queue, memory, TestKeys.hash(key), slot)) == server) {
                return key;
            }
            assertTrue(session.delete(key));
        }
        throw new AssertionError("all blocks are on the other server");
    }

    /** A key with a bucket on the first server and a certain fingerprint; another one for each slot. */
    private static byte[] keyOf(TestSpace space, int bytes, int slot) {
        byte[] key = new byte[bytes];
        long hash;
        key[Integer.BYTES] = (byte) slot;
        int number = 0;
        do {
            ByteBuffer.wrap(key).putInt(number++);
            hash = TestKeys.hash(key);
        } while (KeyHash.fingerprint(hash) != FINGERPRINT || space.shape.bucketRegion(hash) != 0);
        return key;
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
        return word(space, queue, memory, hash, 0);
    }

    private static long word(TestSpace space, RemoteQueue queue, RegisteredBuffer memory, long hash, int from) {
        long at = space.shape.bucketAt(hash);
        var region = space.regions.get(space.shape.bucketRegion(hash));
        int posting = queue.execute(false, region, at, memory, 0, SpaceShape.BUCKET_BYTES, 0);
        assertEquals(PostResult.DONE, posting);
        long bucket = memory.segment().address();
        return Bucket.word(bucket, Bucket.find(bucket, hash, from));
    }
}
