package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.MapException;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.Bucket;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Gets by pointers. A block that is not marked is the key's at the moment of its READ, whatever another session does,
 * which has other pointers, as one of another process.
 */
class PointerTest {

    private static final long MIB = 1 << 20;
    private static final int POINTERS = 1000;
    private static final long NOT_READ = 0x5555_5555_5555_5555L;
    /** More gets than it takes until an object that stays marked is stored again. */
    private static final int MANY = 100;

    private final byte[] key = TestKeys.bytes(1);

    private TestSpace space;
    private MapSession session;
    private MapSession other;
    private RemoteQueue queue;
    private RegisteredBuffer memory;
    private final List<AutoCloseable> closed = new ArrayList<>();

    private void open(int servers) {
        open(servers, EvictionSettings.ADAPTIVE);
    }

    private void open(int servers, EvictionSettings policy) {
        space = new TestSpace(servers, 1, MIB, 100, policy);
        session = space.map.openSession(new PointerCache(POINTERS));
        other = space.map.openSession(new PointerCache(POINTERS));
        queue = space.memory.openQueue(QueueOptions.DEFAULT.withDepth(1));
        memory = space.memory.register(SpaceShape.BUCKET_BYTES);
        for (MapSession each : List.of(session, other)) {
            // From then on it has free blocks.
            each.set(key, value(0));
            each.delete(key);
        }
    }

    @AfterEach
    void close() {
        for (AutoCloseable each : new AutoCloseable[] {session, other, queue, memory, space}) {
            if (each != null) {
                closed.add(each);
            }
        }
        Closeables.all(closed);
    }

    private static byte[] value(int number) {
        return new byte[] {(byte) number, 2, 3};
    }

    /** Gets a key until the session has a pointer to its object. */
    private void point(MapSession of, byte[] to) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        long before = hits(of);
        while (hits(of) == before) {
            of.get(to);
            poll(of);
            assertTrue(System.nanoTime() - deadline < 0, "no pointer is kept");
        }
    }

    private static void poll(MapSession of) {
        of.poll((tag, status, found, at, bytes) -> {});
    }

    private static long hits(MapSession of) {
        return of.requests().counts().of(MapSessionCounts.POINTER_HITS);
    }

    private static long stale(MapSession of) {
        return of.requests().counts().of(MapSessionCounts.STALE_POINTERS);
    }

    private RemoteRegion bucketRegion() {
        return space.regions.get(space.shape.bucketRegion(TestKeys.hash(key)));
    }

    private void execute(boolean write, RemoteRegion region, long at, int bytes) {
        assertEquals(PostResult.DONE, queue.execute(write, region, at, memory, 0, bytes, 0));
    }

    /** The slot that has the key's fingerprint, and no other key has. */
    private int slot() {
        execute(false, bucketRegion(), space.shape.bucketAt(TestKeys.hash(key)), SpaceShape.BUCKET_BYTES);
        return Bucket.find(memory.segment().address(), TestKeys.hash(key), 0);
    }

    private long word() {
        int slot = slot();
        return slot == Bucket.NONE ? SlotWord.EMPTY : Bucket.word(memory.segment().address(), slot);
    }

    private void store(int slot, long word) {
        memory.segment().set(JAVA_LONG, 0, word);
        long bucket = space.shape.bucketAt(TestKeys.hash(key));
        execute(true, bucketRegion(), bucket + Slot.offset(slot), Long.BYTES);
    }

    private RemoteRegion blockRegion(long word) {
        return space.space.regionOf(SlotWord.place(word));
    }

    private long blockAt(long word) {
        return (SlotWord.place(word) & (1L << space.shape.placeShift()) - 1) * BlockFormat.UNIT_BYTES;
    }

    private long mark(long word) {
        execute(false, blockRegion(word), blockAt(word), Long.BYTES);
        return memory.segment().get(JAVA_LONG, 0);
    }

    private void setMark(long word, long mark) {
        memory.segment().set(JAVA_LONG, 0, mark);
        execute(true, blockRegion(word), blockAt(word), Long.BYTES);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aHotGetIsOneRead(int servers) {
        open(servers);
        session.set(key, value(1));
        VerbCounts start = session.posted();
        assertArrayEquals(value(1), session.get(key));
        assertEquals(2, session.posted().since(start).reads());
        assertFalse(SlotWord.hasPointers(word()), "a key that was found once has no pointer");
        point(session, key);
        assertTrue(SlotWord.hasPointers(word()));
        VerbCounts before = session.posted();
        for (int i = 0; i < 30; i++) {
            assertArrayEquals(value(1), session.get(key));
        }
        assertEquals(30, session.posted().since(before).reads());
        assertEquals(0, stale(session));
    }

    /** A session that changes a key knows of its pointer, and the new word has one from the first. */
    @Test
    void anUpdateOfAKnownKeyLeavesAPointer() {
        open(1);
        session.set(key, value(1));
        point(session, key);
        VerbCounts before = session.posted();
        session.set(key, value(2));
        VerbCounts set = session.posted().since(before);
        assertEquals(1, set.reads());
        assertEquals(2, set.swaps(), "a mark and a compare-and-swap");
        assertTrue(SlotWord.hasPointers(word()));
        long at = hits(session);
        assertArrayEquals(value(2), session.get(key));
        assertEquals(at + 1, hits(session));
    }

    @Test
    void theUpdateOfAKeyWithoutPointersCostsWhatItDid() {
        open(1);
        session.set(key, value(1));
        VerbCounts before = session.posted();
        session.set(key, value(2));
        VerbCounts set = session.posted().since(before);
        assertEquals(1, set.reads());
        assertEquals(1, set.swaps());
    }

    private enum Change {
        SET,
        REPLACE,
        COMPARE_AND_SET,
        INCREMENT,
        TOUCH,
        DELETE,
        EXPIRE,
        MOVE,
        EVICT
    }

    /** Another session changes the key or its object's place. Without the mark the pointer would find the old block. */
    @ParameterizedTest
    @CsvSource({
        "SET,1", "REPLACE,1", "COMPARE_AND_SET,1", "INCREMENT,1", "TOUCH,1", "DELETE,1", "EXPIRE,1", "MOVE,1", "EVICT,1",
        "SET,3", "REPLACE,3", "COMPARE_AND_SET,3", "INCREMENT,3", "TOUCH,3", "DELETE,3", "EXPIRE,3", "MOVE,3", "EVICT,3"
    })
    void whoeverTakesABlockOutMarksItBefore(Change change, int servers) {
        open(servers);
        for (int round = 1; round <= 5; round++) {
            byte[] before = TestKeys.bytes(round);
            session.set(key, before, change == Change.EXPIRE ? 1000 : 0);
            point(session, key);
            long word = word();
            assertEquals(BlockFormat.live(SlotWord.incarnation(word)), mark(word));
            byte[] after = change(change, before, round);
            assertEquals(BlockFormat.marked(SlotWord.incarnation(word)), mark(word));
            long at = stale(session);
            assertArrayEquals(after, session.get(key), "round " + round);
            assertEquals(at + 1, stale(session));
            session.delete(key);
        }
    }

    private byte[] change(Change change, byte[] before, int round) {
        byte[] after = TestKeys.bytes(100 + round);
        switch (change) {
            case SET -> other.set(key, after);
            case REPLACE -> assertTrue(other.replace(key, after, 0));
            case COMPARE_AND_SET ->
                assertTrue(
                        other.compareAndSet(key, after, other.getVersioned(key).version(), 0));
            case INCREMENT -> other.increment(key, 100);
            case TOUCH -> assertTrue(other.touch(key, 0));
            case DELETE -> assertTrue(other.delete(key));
            case EXPIRE -> {
                space.clock.millis += 2000;
                assertNull(other.get(key));
            }
            case MOVE -> move(RequestColumns.MOVE);
            case EVICT -> move(RequestColumns.EVICT);
        }
        return switch (change) {
            case TOUCH, MOVE -> before;
            case DELETE, EXPIRE, EVICT -> null;
            default -> after;
        };
    }

    private void move(int kind) {
        long hash = TestKeys.hash(key);
        long slot = MoveSteps.slot(space.shape.bucketRegion(hash), space.shape.bucketOf(hash), slot());
        long word = word();
        assertTrue(other.requests().move(kind, slot, word, 0));
        other.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(0, status));
    }

    /** A session keeps a pointer after another one has read the word without pointers, and before its swap. */
    @ParameterizedTest
    @EnumSource(
            value = Change.class,
            names = {"SET", "REPLACE", "TOUCH"})
    void aRequestThatHasReadTheWordBeforeMarksToo(Change change) {
        open(1);
        session.set(key, value(1));
        session.get(key);
        MemorySegment name = MemorySegment.ofArray(key);
        MemorySegment stored = MemorySegment.ofArray(value(2));
        RequestColumns columns = other.requests().operations();
        long last = columns.bucket(columns.next()) + SpaceShape.BUCKET_BYTES - Long.BYTES;
        NativeMemory.ALL.set(JAVA_LONG, last, NOT_READ);
        assertTrue(
                switch (change) {
                    case SET -> other.set(name, stored, 0);
                    case REPLACE -> other.replace(name, stored, 0, 0);
                    default -> other.touch(name, 0, 0);
                });
        until(() -> NativeMemory.ALL.get(JAVA_LONG, last) != NOT_READ);
        // It has read its bucket, and does not continue without a poll.
        long word = word();
        assertFalse(SlotWord.hasPointers(word));
        point(session, key);
        assertTrue(SlotWord.hasPointers(word()));
        other.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(0, status));
        assertEquals(BlockFormat.marked(SlotWord.incarnation(word)), mark(word));
        byte[] after = change == Change.TOUCH ? value(1) : value(2);
        assertArrayEquals(after, session.get(key));
        assertArrayEquals(after, other.get(key));
    }

    private static void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it does not come so far");
            Thread.onSpinWait();
        }
    }

    /** A full bucket makes room for another key: the victim's pointers lead nowhere. */
    @Test
    void whatIsCrowdedOutOrEvictedIsMarked() {
        open(1, EvictionSettings.of("fifo"));
        int gone = 0;
        for (int round = 0; round < 20 && gone == 0; round++) {
            for (int hot = 0; hot < 20; hot++) {
                session.set(TestKeys.bytes(hot), value(round));
                point(session, TestKeys.bytes(hot));
            }
            for (int i = 0; i < 400; i++) {
                other.set(TestKeys.bytes(1000 + i), new byte[4000]);
            }
            for (int hot = 0; hot < 20; hot++) {
                byte[] there = other.get(TestKeys.bytes(hot));
                assertArrayEquals(there, session.get(TestKeys.bytes(hot)));
                gone += there == null ? 1 : 0;
            }
        }
        assertTrue(gone > 0, "no object with a pointer has made room");
        assertTrue(stale(session) >= gone);
    }

    /** The session that marked the block has died before its compare-and-swap. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aKeyDoesNotStaySlowForEver(int servers) {
        open(servers);
        session.set(key, value(1));
        point(session, key);
        long word = word();
        setMark(word, BlockFormat.marked(SlotWord.incarnation(word)));
        long before = hits(session);
        long version = 0;
        for (int i = 0; i < MANY; i++) {
            assertArrayEquals(value(1), session.get(key));
            version = i == 0 ? session.getVersioned(key).version() : version;
        }
        assertTrue(hits(session) > before, "each get reads the slot");
        assertTrue(SlotWord.hasPointers(word()) && !SlotWord.isSame(word, word()));
        assertEquals(version, session.getVersioned(key).version());
        assertArrayEquals(value(1), other.get(key));
        assertTrue(other.delete(key));
        assertNull(session.get(key));
        Audit.of(space, List.of(session, other));
    }

    private enum Request {
        GET,
        SET,
        ADD,
        REPLACE,
        TOUCH,
        DELETE
    }

    /**
     * A slot names a block of a region that this process does not know. Another process may know it, and read the block
     * by a pointer: then the slot stays, and the request is lost. Without pointers it is emptied.
     */
    @ParameterizedTest
    @EnumSource
    void whatCannotBeMarkedIsNotEmptied(Request request) {
        open(1);
        long place = (long) space.space.regions() << space.shape.placeShift() | 1 << 10;
        long word = SlotWord.live(place, SlotWord.FIRST_INCARNATION, KeyHash.fingerprint(TestKeys.hash(key)), 1);
        assertFalse(space.space.holdsBlock(word));
        store(3, SlotWord.withPointers(word));
        assertThrows(MapException.class, () -> run(request));
        assertEquals(SlotWord.withPointers(word), word());
        store(3, word);
        run(request);
        assertFalse(SlotWord.isSame(word, word()), "the slot is emptied");
        assertEquals(1, session.requests().counts().of(MapSessionCounts.UNLINKED));
    }

    /** A server has left, and all processes say so; one that has lost its lease is not asked, and may read for a while. */
    @Test
    void whatIsOnAServerThatHasLeftIsEmptiedLater() {
        open(1);
        String second = space.startServer(1, MIB);
        space.map.addServer(second, MIB);
        space.map.drain(second, Duration.ofSeconds(1));
        long place = 1L << space.shape.placeShift() | 1 << 10;
        long word = SlotWord.withPointers(
                SlotWord.live(place, SlotWord.FIRST_INCARNATION, KeyHash.fingerprint(TestKeys.hash(key)), 1));
        assertFalse(space.space.holdsBlock(word));
        store(3, word);
        long late = SpaceMemory.lateNanos;
        try {
            assertThrows(MapException.class, () -> session.get(key));
            assertEquals(word, word());
            SpaceMemory.lateNanos = 0;
            until(() -> !space.space.mayBeRead(word));
            assertNull(session.get(key));
            assertEquals(SlotWord.EMPTY, word());
        } finally {
            SpaceMemory.lateNanos = late;
        }
    }

    @Test
    void theSessionsOfAProcessShareItsPointers() {
        open(1);
        try (MapSession first = space.map.openSession();
                MapSession second = space.map.openSession()) {
            first.set(key, value(1));
            point(first, key);
            VerbCounts before = second.posted();
            assertArrayEquals(value(1), second.get(key));
            assertEquals(1, second.posted().since(before).reads());
            second.set(key, value(2));
            before = first.posted();
            assertArrayEquals(value(2), first.get(key));
            assertEquals(1, first.posted().since(before).reads());
        }
    }

    /** Zipfian keys, 95% gets, and two processes: each set makes the other process's pointer stale. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void twoProcessesReadLittleMoreThanOnceAGet(int servers) {
        int keys = 1000;
        space = new TestSpace(servers, 1, 2 * MIB, 2 * keys);
        session = space.map.openSession(new PointerCache(4 * keys));
        other = space.map.openSession(new PointerCache(4 * keys));
        double[] sums = new double[keys];
        double sum = 0;
        for (int i = 0; i < keys; i++) {
            sum += Math.pow(i + 1, -0.99);
            sums[i] = sum;
            session.set(TestKeys.bytes(i), value(i));
        }
        for (int i = 0; i < 3 * keys; i++) {
            session.get(TestKeys.bytes(i % keys));
            other.get(TestKeys.bytes(i % keys));
        }
        SplittableRandom random = new SplittableRandom(1);
        VerbCounts first = session.posted();
        VerbCounts second = other.posted();
        int requests = 20_000;
        int sets = 0;
        for (int i = 0; i < requests; i++) {
            int found = Arrays.binarySearch(sums, random.nextDouble(sum));
            byte[] name = TestKeys.bytes(found < 0 ? -found - 1 : found);
            MapSession of = i % 2 == 0 ? session : other;
            if (random.nextInt(20) == 0) {
                of.set(name, value(i));
                sets++;
            } else {
                of.get(name);
            }
        }
        long reads = session.posted().since(first).reads() + other.posted().since(second).reads();
        // An update reads its bucket.
        double each = (double) (reads - sets) / (requests - sets);
        assertTrue(each < 1.2, each + " READs a get");
    }

    private void run(Request request) {
        switch (request) {
            case GET -> session.get(key);
            case SET -> session.set(key, value(1));
            case ADD -> session.add(key, value(1), 0);
            case REPLACE -> session.replace(key, value(1), 0);
            case TOUCH -> session.touch(key, 0);
            case DELETE -> session.delete(key);
        }
    }

    /**
     * A segment begins again with the first incarnation, and a session that is slow keeps a pointer from before: the
     * same word names another object, and is not in a slot.
     */
    @Test
    void aPointerOfAnOlderEraIsNotUsed() {
        open(1);
        try (MapSession slow = space.map.openSession(new PointerCache(POINTERS))) {
            session.set(key, value(1));
            point(slow, key);
            long word = word();
            session.set(key, value(2));
            // The block is used again by a request that has not stored it yet, under the same incarnation.
            setMark(word, BlockFormat.live(SlotWord.incarnation(word)));
            assertArrayEquals(value(1), slow.get(key), "the pointer leads there");
            // That begins an era in each process.
            String third = space.startServer(1, MIB);
            space.map.addServer(third, MIB);
            space.map.drain(third, Duration.ofSeconds(1));
            assertArrayEquals(value(2), slow.get(key));
        }
    }

    @Test
    void aProcessWithoutPointersMarksForOthers() {
        open(1);
        try (MapSession plain = space.map.openSession(new PointerCache(0))) {
            session.set(key, value(1));
            point(session, key);
            plain.set(key, value(2));
            assertArrayEquals(value(2), session.get(key));
            for (int i = 0; i < 10; i++) {
                assertArrayEquals(value(2), plain.get(key));
            }
            assertEquals(0, hits(plain));
        }
    }

    @Test
    void valuesInPiecesAreFoundByTheTable() {
        open(1);
        byte[] large = new byte[40_000];
        session.set(key, large);
        for (int i = 0; i < 10; i++) {
            assertArrayEquals(large, session.get(key));
            poll(session);
        }
        assertEquals(0, hits(session));
        session.set(key, value(1));
        point(session, key);
        session.set(key, large);
        assertArrayEquals(large, session.get(key));
        assertFalse(SlotWord.hasPointers(word()));
    }
}
