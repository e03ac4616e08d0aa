package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.testing.Effort;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that look at the existing object before they store one. */
class ConditionTest {

    private static final int STEPS = Math.max(30_000, Effort.count(300_000));

    private TestSpace space;

    @AfterEach
    void close() {
        if (space != null) {
            space.close();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }

    @ParameterizedTest
    @ValueSource(strings = {"adaptive", "lru-k"})
    void eachLooksAtWhatIsThere(String policy) {
        space = new TestSpace(2, 2, 1 << 20, 1000, EvictionSettings.of(policy));
        try (MapSession session = space.map.openSession()) {
            byte[] key = bytes("a key that is longer than a word");
            assertFalse(session.replace(key, bytes("none"), 0));
            assertFalse(session.touch(key, 0));
            assertFalse(session.compareAndSet(key, bytes("none"), 1, 0));
            assertEquals(OptionalLong.empty(), session.increment(key, 1));
            assertNull(session.getVersioned(key));
            assertTrue(session.add(key, bytes("one"), 0));
            assertFalse(session.add(key, bytes("another"), 0));
            VersionedValue one = session.getVersioned(key);
            assertArrayEquals(bytes("one"), one.value());
            assertTrue(session.replace(key, bytes("two"), 0));
            assertFalse(session.compareAndSet(key, bytes("no"), one.version(), 0));
            VersionedValue two = session.getVersioned(key);
            assertNotEquals(one.version(), two.version());
            assertTrue(session.touch(key, 0));
            assertTrue(session.compareAndSet(key, bytes("three, longer than the ones before"), two.version(), 0));
            assertArrayEquals(bytes("three, longer than the ones before"), session.get(key));
            assertThrows(MapException.class, () -> session.increment(key, 1));
            session.set(key, number(40));
            assertEquals(OptionalLong.of(42), session.increment(key, 2));
            assertEquals(OptionalLong.of(-1), session.increment(key, -43));
            assertArrayEquals(number(-1), session.get(key));
            assertTrue(session.delete(key));
            Audit.of(space, List.of(session));
        }
    }

    @Test
    void anObjectWhoseTimeIsOverIsAbsentToAll() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            space.clock.millis = 1000;
            for (String each : List.of("add", "replace", "swap", "increment", "touch", "delete")) {
                session.set(bytes(each), number(1), 500);
            }
            long version = session.getVersioned(bytes("swap")).version();
            space.clock.millis = 1500;
            assertTrue(session.add(bytes("add"), bytes("new"), 0));
            assertArrayEquals(bytes("new"), session.get(bytes("add")));
            assertFalse(session.replace(bytes("replace"), bytes("new"), 0));
            assertFalse(session.compareAndSet(bytes("swap"), bytes("new"), version, 0));
            assertEquals(OptionalLong.empty(), session.increment(bytes("increment"), 1));
            assertFalse(session.touch(bytes("touch"), 500));
            assertFalse(session.delete(bytes("delete")));
            assertEquals(1, Audit.of(space, List.of(session)).live);
        }
    }

    @Test
    void aTouchGivesAnotherTimeAndAnIncrementKeepsIt() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            session.set(bytes("a"), number(1), 1000);
            long version = session.getVersioned(bytes("a")).version();
            space.clock.millis = 900;
            assertTrue(session.touch(bytes("a"), 1000));
            assertEquals(version, session.getVersioned(bytes("a")).version());
            space.clock.millis = 1800;
            assertEquals(OptionalLong.of(2), session.increment(bytes("a"), 1));
            space.clock.millis = 1899;
            assertNotNull(session.get(bytes("a")));
            space.clock.millis = 1900;
            assertNull(session.get(bytes("a")));
            session.set(bytes("b"), number(1), 10);
            assertTrue(session.touch(bytes("b"), 0));
            space.clock.millis = 1L << 40;
            assertArrayEquals(number(1), session.get(bytes("b")));
        }
    }

    @Test
    void whatIsRefusedTakesNoMemory() {
        space = new TestSpace(1, 1, 256 << 10, 100);
        try (MapSession session = space.map.openSession()) {
            session.set(bytes("a"), new byte[1000]);
            for (int i = 0; i < 10_000; i++) {
                assertFalse(session.add(bytes("a"), new byte[3000], 0));
                assertFalse(session.compareAndSet(bytes("a"), new byte[3000], 1, 0));
                assertFalse(session.replace(bytes("b"), new byte[3000], 0));
            }
            assertEquals(0, session.requests().counts().of(MapSessionCounts.EVICTED));
            Audit.of(space, List.of(session));
        }
    }

    @Test
    void whatCannotBeIsRefusedInASentence() {
        space = new TestSpace(1, 2, 1 << 20, 100);
        try (MapSession session = space.map.openSession()) {
            assertThrows(IllegalArgumentException.class, () -> session.add(new byte[0], new byte[1], 0));
            assertThrows(IllegalArgumentException.class, () -> session.add(new byte[1], new byte[1], -1));
            assertThrows(IllegalArgumentException.class, () -> session.touch(new byte[1], -1));
            assertThrows(IllegalArgumentException.class, () -> session.touch(new byte[1], Long.MAX_VALUE));
            assertThrows(IllegalArgumentException.class, () -> session.increment(new byte[1025], 1));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> session.replace(new byte[1], new byte[MapSession.MOST_VALUE_BYTES + 1], 0));
            assertEquals(0, session.inFlight());
        }
    }

    /** The first thread that finds no counter adds it, and no thread's increment is lost. */
    @Test
    void manyThreadsAddUp() throws Exception {
        int threads = 4;
        int each = 4000;
        int keys = 3;
        space = new TestSpace(1, 1, 4 << 20, 1);
        List<MapSession> sessions = new ArrayList<>();
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                MapSession session = space.map.openSession();
                sessions.add(session);
                running.add(executor.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        byte[] key = bytes("counter" + i % keys);
                        OptionalLong sum = session.increment(key, 1);
                        while (sum.isEmpty()) {
                            session.add(key, number(0), 0);
                            sum = session.increment(key, 1);
                        }
                    }
                    session.release();
                }));
            }
            for (Future<?> one : running) {
                one.get();
            }
            long sum = 0;
            for (int i = 0; i < keys; i++) {
                sum += sessions.getFirst().increment(bytes("counter" + i), 0).getAsLong();
            }
            assertEquals((long) threads * each, sum);
            assertEquals(keys, Audit.of(space, sessions).live);
        } finally {
            sessions.forEach(MapSession::close);
        }
    }

    private static int fingerprint(long key) {
        return KeyHash.fingerprint(TestKeys.HASH.of(MemorySegment.ofArray(number(key)), 0, Long.BYTES));
    }

    /**
     * A session whose add succeeded has the key for itself until it deletes it, whatever other objects come and go in
     * the bucket. A seed determines the order of the sessions' steps.
     */
    @Test
    void anAddIsALock() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        space = new TestSpace(1, 1, 4 << 20, 1);
        List<MapSession> sessions = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            sessions.add(space.map.openSession());
        }
        int[] holder = {-1};
        int[] taken = {0};
        MemorySegment lock = MemorySegment.ofArray(number(7));
        // Some of the other keys have the fingerprint, too.
        long[] others = LongStream.concat(
                        LongStream.range(100, 10_000)
                                .filter(other -> fingerprint(other) == fingerprint(7))
                                .limit(2),
                        LongStream.range(10_000, 10_004))
                .toArray();
        for (int step = 0; step < STEPS; step++) {
            int number = random.nextInt(sessions.size());
            MapSession session = sessions.get(number);
            if (session.inFlight() > 0) {
                session.poll((tag, status, memory, at, bytes) -> {
                    if (tag == RequestColumns.ADD && status == KvStatus.DONE) {
                        assertEquals(-1, holder[0], "two have it, seed " + seed);
                        holder[0] = number;
                        taken[0]++;
                    } else if (tag == RequestColumns.DELETE) {
                        assertEquals(KvStatus.DONE, status, "seed " + seed);
                    }
                });
            } else if (number >= 3) {
                // These sessions make other slots of the bucket come and go.
                MemorySegment other = MemorySegment.ofArray(number(others[random.nextInt(6)]));
                if (random.nextBoolean()) {
                    session.set(other, lock, 0);
                } else {
                    session.delete(other, 0);
                }
            } else if (holder[0] == number) {
                holder[0] = -1;
                session.delete(lock, RequestColumns.DELETE);
            } else {
                session.add(lock, lock, 0, RequestColumns.ADD);
            }
        }
        for (MapSession session : sessions) {
            assertEquals(0, session.requests().counts().of(MapSessionCounts.CROWDED_OUT));
            assertEquals(0, session.requests().counts().of(MapSessionCounts.EVICTED));
            session.close();
        }
        assertTrue(taken[0] > STEPS / 300, taken[0] + " times, seed " + seed);
    }
}
