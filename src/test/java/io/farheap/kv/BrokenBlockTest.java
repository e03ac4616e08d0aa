package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Blocks that are broken and stay so: a get misses their objects, which can be stored again. */
class BrokenBlockTest {

    private static final int MIB = 1 << 20;
    private static final int BYTES = 4 * MIB;

    private final SplittableRandom random = new SplittableRandom(5);
    private TestSpace space;
    private RemoteQueue queue;
    private RegisteredBuffer memory;

    @BeforeEach
    void open() {
        space = new TestSpace(1, 1, BYTES, 1);
        queue = space.memory.openQueue(QueueOptions.DEFAULT);
        memory = space.memory.register(MIB);
    }

    @AfterEach
    void close() {
        queue.close();
        memory.close();
        space.close();
    }

    private byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        random.nextBytes(value);
        return value;
    }

    private void execute(boolean write, long offset, int bytes) {
        assertEquals(PostResult.DONE, queue.execute(write, space.regions.getFirst(), offset, memory, 0, bytes, 0));
    }

    /** Finds a value in the space and changes one of its bits. */
    private void spoil(byte[] value, int from) {
        byte[] start = new byte[64];
        System.arraycopy(value, from, start, 0, start.length);
        MemorySegment wanted = MemorySegment.ofArray(start);
        for (long at = 0; at + MIB <= BYTES; at += MIB / 2) {
            execute(false, at, MIB);
            for (int i = 0; i + start.length <= MIB; i += Long.BYTES) {
                if (memory.segment().asSlice(i, start.length).mismatch(wanted) < 0) {
                    long word = NativeMemory.ALL.get(JAVA_LONG, memory.segment().address() + i);
                    memory.segment().set(JAVA_LONG, 0, word ^ 1);
                    execute(true, at + i, Long.BYTES);
                    return;
                }
            }
        }
        throw new AssertionError("not found");
    }

    @Test
    void aPieceThatIsNotWholeIsAMiss() {
        try (MapSession session = space.map.openSession()) {
            byte[] value = value(60_000);
            session.set(TestKeys.bytes(1), value);
            spoil(value, 40_000);
            assertNull(session.get(TestKeys.bytes(1)));
            assertTrue(session.requests().counts().of(MapSessionCounts.UNLINKED) > 0);
            session.set(TestKeys.bytes(1), value);
            assertArrayEquals(value, session.get(TestKeys.bytes(1)));
        }
    }

    /** The objects share a bucket and a fingerprint; each of them in turn is the broken one. */
    @Test
    void oneAmongOthersOfItsFingerprintIsAMissAndCanBeStoredAgain() {
        long[] keys = TestKeys.of(6, true);
        try (MapSession session = space.map.openSession()) {
            for (int broken = 0; broken < keys.length; broken++) {
                byte[][] values = new byte[keys.length][];
                for (int i = 0; i < keys.length; i++) {
                    values[i] = value(200);
                    session.set(TestKeys.bytes(keys[i]), values[i]);
                }
                spoil(values[broken], 64);
                assertNull(session.get(TestKeys.bytes(keys[broken])), "key " + broken);
                byte[] again = value(300);
                session.set(TestKeys.bytes(keys[broken]), again);
                assertArrayEquals(again, session.get(TestKeys.bytes(keys[broken])), "key " + broken);
                values[broken] = again;
                for (int i = 0; i < keys.length; i++) {
                    assertArrayEquals(
                            values[i], session.get(TestKeys.bytes(keys[i])), "key " + i + " beside broken " + broken);
                }
                assertTrue(session.requests().counts().of(MapSessionCounts.UNLINKED) > broken);
            }
        }
    }

    /** A request clears a slot whose block is in a region that this process does not know, though another may. */
    @ParameterizedTest
    @EnumSource
    void whatThisProcessCannotReadIsTakenOut(Request request) {
        byte[] key = TestKeys.bytes(1);
        long hash = TestKeys.hash(key);
        long bucket = space.shape.bucketAt(hash);
        long word = elsewhere(hash);
        try (MapSession session = space.map.openSession()) {
            store(bucket, 5, word);
            byte[] value = value(50);
            switch (request) {
                case GET -> assertNull(session.get(key));
                case SET -> session.set(key, value);
                case ADD -> assertTrue(session.add(key, value, 0));
                case REPLACE -> assertFalse(session.replace(key, value, 0));
                case COMPARE_AND_SET -> assertFalse(session.compareAndSet(key, value, 1, 0));
                case INCREMENT -> assertTrue(session.increment(key, 1).isEmpty());
                case TOUCH -> assertFalse(session.touch(key, 0));
                case DELETE -> assertFalse(session.delete(key));
            }
            execute(false, bucket, SpaceShape.BUCKET_BYTES);
            boolean stores = request == Request.SET || request == Request.ADD;
            for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
                long found = Bucket.word(memory.segment().address(), slot);
                assertNotEquals(word, found);
                assertTrue(found == SlotWord.EMPTY || stores, "slot " + slot);
            }
            assertArrayEquals(stores ? value : null, session.get(key));
            assertEquals(1, session.requests().counts().of(MapSessionCounts.UNLINKED));
        }
    }

    /** The slot is written during an insertion, which looks at all slots that may have its key. */
    @Test
    void anInsertionTakesItOutToo() {
        byte[] key = TestKeys.bytes(1);
        long hash = TestKeys.hash(key);
        long bucket = space.shape.bucketAt(hash);
        try (MapSession session = space.map.openSession()) {
            // Afterwards the session has free blocks.
            session.set(key, value(50));
            session.delete(key);
            byte[] value = value(60);
            assertTrue(session.set(MemorySegment.ofArray(key), MemorySegment.ofArray(value), 0, 1));
            store(bucket, 5, elsewhere(hash));
            while (session.inFlight() > 0) {
                session.poll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
            }
            execute(false, bucket, SpaceShape.BUCKET_BYTES);
            assertEquals(SlotWord.EMPTY, Bucket.word(memory.segment().address(), 5));
            assertArrayEquals(value, session.get(key));
            assertEquals(1, session.requests().counts().of(MapSessionCounts.UNLINKED));
        }
    }

    /**
     * Below the key's object, the bucket has two slots whose blocks were used again, and one whose block cannot be
     * read. The request clears these three.
     */
    @ParameterizedTest
    @EnumSource
    void severalBelowTheKeysObjectAreTakenOut(Request request) {
        byte[] key = TestKeys.bytes(1);
        long hash = TestKeys.hash(key);
        long bucket = space.shape.bucketAt(hash);
        try (MapSession session = space.map.openSession()) {
            byte[] value = new byte[Long.BYTES];
            session.set(key, value);
            long version = session.getVersioned(key).version();
            execute(false, bucket, SpaceShape.BUCKET_BYTES);
            long word = Bucket.word(memory.segment().address(), 0);
            assertTrue(SlotWord.isLive(word));
            execute(true, bucket + Slot.offset(9), Slot.BYTES);
            long again = SlotWord.live(
                    SlotWord.place(word),
                    SlotWord.incarnation(word) + 1,
                    SlotWord.fingerprint(word),
                    SlotWord.units(word));
            store(bucket, 0, again);
            store(bucket, 5, elsewhere(hash));
            store(bucket, 7, again + (1L << 50));
            session.release();
            assertTimeoutPreemptively(Duration.ofMillis(TestDevice.patience(30_000)), () -> {
                switch (request) {
                    case GET -> assertArrayEquals(value, session.get(key));
                    case SET -> session.set(key, value);
                    case ADD -> assertFalse(session.add(key, value, 0));
                    case REPLACE -> assertTrue(session.replace(key, value, 0));
                    case COMPARE_AND_SET -> assertTrue(session.compareAndSet(key, value, version, 0));
                    case INCREMENT -> assertEquals(0, session.increment(key, 0).orElseThrow());
                    case TOUCH -> assertTrue(session.touch(key, 0));
                    case DELETE -> assertTrue(session.delete(key));
                }
                session.release();
            });
            execute(false, bucket, SpaceShape.BUCKET_BYTES);
            for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
                long found = Bucket.word(memory.segment().address(), slot);
                assertEquals(slot == 9 && request != Request.DELETE, SlotWord.isLive(found), "slot " + slot);
            }
            assertArrayEquals(request == Request.DELETE ? null : value, session.get(key));
            assertEquals(3, session.requests().counts().of(MapSessionCounts.UNLINKED));
        }
    }

    private void store(long bucket, int slot, long word) {
        memory.segment().set(JAVA_LONG, 0, word);
        execute(true, bucket + Slot.offset(slot), Long.BYTES);
    }

    /** The word of a slot with a key's fingerprint, which names a block of a region that this process does not know. */
    private long elsewhere(long hash) {
        long word = SlotWord.live(SlotWord.MOST_PLACES - 2, SlotWord.FIRST_INCARNATION, KeyHash.fingerprint(hash), 2);
        assertFalse(space.space.holdsBlock(word));
        return word;
    }

    private enum Request {
        GET,
        SET,
        ADD,
        REPLACE,
        COMPARE_AND_SET,
        INCREMENT,
        TOUCH,
        DELETE
    }

    @Test
    void everyRequestOnOneEnds() {
        long[] keys = TestKeys.of(4, true);
        try (MapSession session = space.map.openSession()) {
            for (int kind = 0; kind < 6; kind++) {
                byte[] value = value(200);
                for (long key : keys) {
                    session.set(TestKeys.bytes(key), key == keys[2] ? value : value(100));
                }
                spoil(value, 64);
                byte[] key = TestKeys.bytes(keys[2]);
                switch (kind) {
                    case 0 -> session.set(key, value(50));
                    case 1 -> session.add(key, value(50), 0);
                    case 2 -> session.replace(key, value(50), 0);
                    case 3 -> session.compareAndSet(key, value(50), 1, 0);
                    case 4 -> session.touch(key, 0);
                    default -> session.delete(key);
                }
                session.get(key);
                byte[] again = value(70);
                session.set(key, again);
                assertArrayEquals(again, session.get(key), "kind " + kind);
            }
        }
    }
}
