package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.testing.Wait;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Requests and drains that need nothing of a lost server, although it has some of the blocks or of the table. */
class LostBlockTest {

    private static final long REGION_BYTES = 1 << 20;
    private static final int BYTES = 6000;
    private static final int FEW_BYTES = 100;
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
     * The block of a set by a pointer cannot be written, as the connection to its server has failed: the old block is
     * not marked for that.
     */
    @Test
    void aSetThatCannotWriteItsBlockMarksNone() {
        try (TestSpace space = new TestSpace(2, 1, REGION_BYTES, 4000);
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                MapSession session = space.map.openSession()) {
            byte[] set = null;
            List<byte[]> others = new ArrayList<>();
            int number = 0;
            while (set == null || others.size() < 2) {
                byte[] key = TestServers.key(number++);
                session.set(key, TestServers.value(number, FEW_BYTES));
                long hash = TestKeys.hash(key);
                int block = space.space.serverOf(word(space, queue, memory, hash));
                set = space.shape.bucketRegion(hash) == 0 && block == 0 ? key : set;
                if (block == 1) {
                    others.add(key);
                }
            }
            ProbedSlot.point(session, set);
            long first = word(space, queue, memory, TestKeys.hash(others.getFirst()));
            others.forEach(session::delete);
            // Free blocks are taken in turn: those of the deleted objects follow one another.
            long taken;
            do {
                byte[] key = TestServers.key(number++);
                session.set(key, TestServers.value(number, FEW_BYTES));
                taken = word(space, queue, memory, TestKeys.hash(key));
            } while (SlotWord.place(taken) != SlotWord.place(first));
            // The session does not know of this yet.
            space.memory.detach(space.spaces.get(1).server());
            byte[] value = TestServers.value(-1, FEW_BYTES);
            long swaps = session.posted().swaps();
            assertTrue(session.set(MemorySegment.ofArray(set), MemorySegment.ofArray(value), 0));
            assertEquals(swaps, session.posted().swaps());
            int[] ended = {-1};
            session.requests().awaitAll((tag, status, found, at, bytes) -> ended[0] = status);
            assertEquals(KvStatus.DONE, ended[0]);
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

    /** The slot of a pointer names another key's block on the lost server by now; the key is in another slot. */
    @Test
    void anUpdateByAPointerFindsTheKeyInAnotherSlot() {
        try (TestSpace space = new TestSpace(2, 1, REGION_BYTES, 1);
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                MapSession session = space.map.openSession()) {
            byte[] other = stored(space, queue, memory, session, 0, 1);
            byte[] key = stored(space, queue, memory, session, 1, 0);
            ProbedSlot.point(session, key);
            long lost = word(space, queue, memory, TestKeys.hash(other));
            try (ProbedSlot slot = new ProbedSlot(space, key)) {
                slot.store(0, word(space, queue, memory, TestKeys.hash(key), 1));
                slot.store(1, lost);
            }
            space.stop(1);
            assertThrows(MapException.class, () -> session.get(other));
            session.set(key, TestKeys.bytes(2));
            assertEquals(1, session.requests().counts().of(MapSessionCounts.SWAPS_LOST), "it is by the pointer");
            assertArrayEquals(TestKeys.bytes(2), session.get(key));
            assertEquals(lost, word(space, queue, memory, TestKeys.hash(key), 1));
        }
    }

    /**
     * A set has found its key in a slot. While it marks the key's block, which is on a third server, the slot comes to
     * name another key's block on the lost server, and the key is in another slot.
     */
    @Test
    void anUpdateThatLosesFindsTheKeyInAnotherSlot() {
        try (TestSpace space = new TestSpace(3, 1, REGION_BYTES, 1);
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer memory = space.memory.register(SpaceShape.BUCKET_BYTES);
                MapSession reader = space.map.openSession();
                MapSession session = space.map.openSession(new PointerCache(0))) {
            byte[] other = stored(space, queue, memory, reader, 0, 1);
            byte[] key = stored(space, queue, memory, reader, 1, 2);
            ProbedSlot.point(reader, key);
            session.set(TestKeys.bytes(1), TestKeys.bytes(1));
            session.delete(TestKeys.bytes(1));
            long lost = word(space, queue, memory, TestKeys.hash(other));
            long word = word(space, queue, memory, TestKeys.hash(key), 1);
            space.stop(1);
            assertThrows(MapException.class, () -> session.get(other));
            long swaps = session.posted().swaps();
            assertTrue(session.set(MemorySegment.ofArray(key), MemorySegment.ofArray(TestKeys.bytes(2)), 0));
            try (ProbedSlot slot = new ProbedSlot(space, key)) {
                while (session.posted().swaps() == swaps) {
                    session.poll((tag, status, found, at, bytes) -> {});
                }
                Wait.until(() -> slot.isMarked(word), 30_000_000_000L, "no mark comes");
                slot.store(0, word);
                slot.store(1, lost);
            }
            int[] ended = {-1};
            session.requests().awaitAll((tag, status, found, at, bytes) -> ended[0] = status);
            assertEquals(KvStatus.DONE, ended[0]);
            assertEquals(1, session.requests().counts().of(MapSessionCounts.SWAPS_LOST));
            assertArrayEquals(TestKeys.bytes(2), session.get(key));
            assertEquals(lost, word(space, queue, memory, TestKeys.hash(key), 1));
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
