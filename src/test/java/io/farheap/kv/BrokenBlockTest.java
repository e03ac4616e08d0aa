package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.NativeMemory;
import io.farheap.remote.Posting;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Blocks that are broken and stay so: their objects are missed, and can be stored again. */
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

    private static byte[] key(long number) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(number)
                .array();
    }

    private byte[] value(int bytes) {
        byte[] value = new byte[bytes];
        random.nextBytes(value);
        return value;
    }

    private void execute(boolean write, long offset, int bytes) {
        assertEquals(Posting.DONE, queue.execute(write, space.regions.getFirst(), offset, memory, 0, bytes, 0));
    }

    /** Changes a bit of what is stored somewhere in the space. */
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
        try (Session session = space.map.openSession()) {
            byte[] value = value(60_000);
            session.set(key(1), value);
            spoil(value, 40_000);
            assertNull(session.get(key(1)));
            assertTrue(session.counts().of(Counts.UNLINKED) > 0);
            session.set(key(1), value);
            assertArrayEquals(value, session.get(key(1)));
        }
    }

    /** In a bucket, each with the fingerprint of all others: below and above one that is whole. */
    @Test
    void oneAmongOthersOfItsFingerprintIsAMissAndCanBeStoredAgain() {
        long[] keys = TestKeys.of(6, true);
        try (Session session = space.map.openSession()) {
            for (int broken = 0; broken < keys.length; broken++) {
                byte[][] values = new byte[keys.length][];
                for (int i = 0; i < keys.length; i++) {
                    values[i] = value(200);
                    session.set(key(keys[i]), values[i]);
                }
                spoil(values[broken], 64);
                assertNull(session.get(key(keys[broken])), "key " + broken);
                byte[] again = value(300);
                session.set(key(keys[broken]), again);
                assertArrayEquals(again, session.get(key(keys[broken])), "key " + broken);
                values[broken] = again;
                for (int i = 0; i < keys.length; i++) {
                    assertArrayEquals(values[i], session.get(key(keys[i])), "key " + i + " beside broken " + broken);
                }
                assertTrue(session.counts().of(Counts.UNLINKED) > broken);
            }
        }
    }

    @Test
    void everyRequestOnOneEnds() {
        long[] keys = TestKeys.of(4, true);
        try (Session session = space.map.openSession()) {
            for (int kind = 0; kind < 6; kind++) {
                byte[] value = value(200);
                for (long key : keys) {
                    session.set(key(key), key == keys[2] ? value : value(100));
                }
                spoil(value, 64);
                byte[] key = key(keys[2]);
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
