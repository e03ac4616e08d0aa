package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.contract.VerbCounts;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
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
    private ProbedSlot slot;

    private void open(int servers) {
        open(servers, 100, EvictionSettings.ADAPTIVE);
    }

    private void open(int servers, int objects, EvictionSettings policy) {
        space = new TestSpace(servers, 1, MIB, objects, policy);
        session = space.map.openSession(new PointerCache(POINTERS));
        other = space.map.openSession(new PointerCache(POINTERS));
        slot = new ProbedSlot(space, key);
        for (MapSession each : List.of(session, other)) {
            // From then on it has free blocks.
            each.set(key, value(0));
            each.delete(key);
        }
    }

    @AfterEach
    void close() {
        Closeables.all(session, other, slot, space);
    }

    private static byte[] value(int number) {
        return new byte[] {(byte) number, 2, 3};
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aHotGetIsOneRead(int servers) {
        open(servers);
        session.set(key, value(1));
        VerbCounts start = session.posted();
        assertArrayEquals(value(1), session.get(key));
        assertEquals(2, session.posted().since(start).reads());
        assertFalse(SlotWord.hasPointers(slot.word()), "a key that was found once has no pointer");
        ProbedSlot.point(session, key);
        assertTrue(SlotWord.hasPointers(slot.word()));
        VerbCounts before = session.posted();
        for (int i = 0; i < 30; i++) {
            assertArrayEquals(value(1), session.get(key));
        }
        assertEquals(30, session.posted().since(before).reads());
        assertEquals(0, ProbedSlot.stale(session));
    }

    /** A set by a pointer READs nothing, and leaves a pointer to the new object. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anUpdateOfAKnownKeyReadsNothing(int servers) {
        open(servers);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        for (int number = 2; number < 30; number++) {
            VerbCounts before = session.posted();
            session.set(key, value(number));
            VerbCounts set = session.posted().since(before);
            assertEquals(0, set.reads());
            assertEquals(2, set.swaps(), "a mark and a compare-and-swap");
            assertTrue(SlotWord.hasPointers(slot.word()));
            long at = ProbedSlot.hits(session);
            assertArrayEquals(value(number), session.get(key));
            assertEquals(at + 1, ProbedSlot.hits(session));
            assertArrayEquals(value(number), other.get(key));
        }
        assertEquals(0, session.requests().counts().of(MapSessionCounts.SWAPS_LOST));
        Audit.of(space, List.of(session, other));
    }

    /** Block, mark and compare-and-swap are posted together, so the update is one round trip. */
    @Test
    void anUpdateOfAKnownKeyIsOneList() {
        open(1);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        VerbCounts before = session.posted();
        assertTrue(session.set(MemorySegment.ofArray(key), MemorySegment.ofArray(value(2)), 0));
        VerbCounts begun = session.posted().since(before);
        assertEquals(1, begun.doorbells());
        assertEquals(2, begun.swaps());
        session.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
        assertArrayEquals(value(2), other.get(key));
    }

    /** One of 64 sets asks the slot, which has the accesses that other processes have counted. */
    @Test
    void someUpdatesOfAKnownKeyAskTheSlot() {
        open(1);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        VerbCounts before = session.posted();
        for (int i = 0; i < 256; i++) {
            session.set(key, value(i));
        }
        long reads = session.posted().since(before).reads();
        assertTrue(reads >= 3 && reads <= 5, reads + " READs of the bucket");
    }

    /** Another process has changed the key: the set takes the word that it finds, and READs the head of its block. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void anUpdateByAStalePointerIsMadeAllTheSame(int servers) {
        open(servers);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        other.set(key, value(2));
        VerbCounts before = session.posted();
        session.set(key, value(3));
        VerbCounts set = session.posted().since(before);
        assertEquals(1, set.reads());
        assertEquals(3, set.swaps(), "a mark and two compare-and-swaps, as the other's word has no pointers");
        assertArrayEquals(value(3), other.get(key));
        assertArrayEquals(value(3), session.get(key));
        Audit.of(space, List.of(session, other));
    }

    /** After a loss the next set asks the slot, and the one behind that uses the pointer again. */
    @Test
    void anUpdateBehindALossAsksTheSlot() {
        open(1);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        other.set(key, value(2));
        session.set(key, value(3));
        assertEquals(1, readsOfASet(4));
        assertEquals(0, readsOfASet(5));
        assertArrayEquals(value(5), other.get(key));
    }

    private long readsOfASet(int number) {
        VerbCounts before = session.posted();
        session.set(key, value(number));
        return session.posted().since(before).reads();
    }

    /**
     * The slot has another hash, as that of a set which has lost: its word is a pointer's, so the block is the key's.
     */
    @Test
    void aPointerSaysWhichKeyABlockHas() {
        open(1);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        other.set(key, value(2));
        session.set(key, value(3));
        assertArrayEquals(value(3), session.get(key));
        slot.storeHash(0x1234);
        assertEquals(1, readsOfASet(4), "the bucket");
        assertArrayEquals(value(4), other.get(key));
    }

    /**
     * Between an update's compare-and-swap and its end the process has no pointer that would lead to a marked block.
     */
    @Test
    void whileAKeyIsUpdatedTheProcessAsksTheSlot() {
        open(1);
        try (MapSession first = space.map.openSession();
                MapSession second = space.map.openSession()) {
            first.set(key, value(1));
            ProbedSlot.point(first, key);
            second.set(key, value(2));
            assertTrue(first.set(MemorySegment.ofArray(key), MemorySegment.ofArray(value(3)), 0));
            long stale = ProbedSlot.stale(second);
            second.get(key);
            assertEquals(stale, ProbedSlot.stale(second));
            first.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
            assertArrayEquals(value(3), second.get(key));
        }
    }

    /** A set that has lost its compare-and-swap READs the head of the other set's block, and not the bucket. */
    @Test
    void aSetThatIsReplacedAtOnceReadsOneHead() {
        open(1);
        session.set(key, value(1));
        RequestColumns columns = other.requests().operations();
        long last = columns.bucket(columns.next()) + SpaceShape.BUCKET_BYTES - Long.BYTES;
        NativeMemory.ALL.set(JAVA_LONG, last, NOT_READ);
        VerbCounts before = other.posted();
        assertTrue(other.set(MemorySegment.ofArray(key), MemorySegment.ofArray(value(2)), 0));
        until(() -> NativeMemory.ALL.get(JAVA_LONG, last) != NOT_READ);
        session.set(key, value(3));
        other.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
        assertEquals(2, other.posted().since(before).reads(), "the bucket and a head");
        assertEquals(1, other.requests().counts().of(MapSessionCounts.SWAPS_LOST));
        assertArrayEquals(value(3), session.get(key));
        assertArrayEquals(value(3), other.get(key));
        Audit.of(space, List.of(session, other));
    }

    /** An update by a pointer has not read the slot's expiry, and keeps it right all the same. */
    @Test
    void anUpdateByAPointerWritesTheSlotsExpiry() {
        open(1);
        session.set(key, value(1), 5000);
        ProbedSlot.point(session, key);
        assertTrue(slot.expirySeconds() > 0);
        session.set(key, value(2));
        until(() -> {
            session.poll((tag, status, found, at, bytes) -> {});
            return slot.expirySeconds() == 0;
        });
        session.set(key, value(3), 5000);
        until(() -> {
            session.poll((tag, status, found, at, bytes) -> {});
            return slot.expirySeconds() > 0;
        });
        space.clock.millis += 6000;
        assertNull(session.get(key));
    }

    /** The connection fails at each operation of an update by a pointer in turn. */
    @Needs(Need.SOFTVERBS)
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void whateverOperationOfAnUpdateByAPointerFailsItIsMade(int servers) {
        open(servers);
        int failures = 0;
        for (int operations = 1; operations <= 8; operations++) {
            session.set(key, value(1));
            ProbedSlot.point(session, key);
            session.poll((tag, status, found, at, bytes) -> {});
            RequestColumns columns = session.requests().operations();
            int place = columns.next();
            VerbCounts before = session.posted();
            Softverbs.set("qp_error_after=" + operations);
            try {
                assertTrue(session.set(MemorySegment.ofArray(key), MemorySegment.ofArray(value(2)), 0));
                assertTrue(session.posted().since(before).swaps() > 0, "it goes by its pointer");
                until(() -> {
                    session.poll((tag, status, found, at, bytes) -> {});
                    return columns.failures[place] > 0 || session.inFlight() == 0;
                });
                failures += columns.failures[place];
            } finally {
                Softverbs.set("qp_error_after=0");
            }
            session.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
            assertArrayEquals(value(2), other.get(key));
            assertArrayEquals(value(2), session.get(key));
        }
        assertTrue(failures > 2, failures + " connections have failed");
        Audit.of(space, List.of(session, other));
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
        "SET,1", "REPLACE,1", "COMPARE_AND_SET,1", "INCREMENT,1", "TOUCH,1", "DELETE,1", "EXPIRE,1", "MOVE,1",
                "EVICT,1",
        "SET,3", "REPLACE,3", "COMPARE_AND_SET,3", "INCREMENT,3", "TOUCH,3", "DELETE,3", "EXPIRE,3", "MOVE,3", "EVICT,3"
    })
    void whoeverTakesABlockOutMarksItBefore(Change change, int servers) {
        open(servers);
        for (int round = 1; round <= 5; round++) {
            byte[] before = TestKeys.bytes(round);
            session.set(key, before, change == Change.EXPIRE ? 1000 : 0);
            ProbedSlot.point(session, key);
            long word = slot.word();
            assertEquals(BlockFormat.live(SlotWord.incarnation(word)), slot.mark(word));
            byte[] after = change(change, before, round);
            assertEquals(BlockFormat.marked(SlotWord.incarnation(word)), slot.mark(word));
            long at = ProbedSlot.stale(session);
            assertArrayEquals(after, session.get(key), "round " + round);
            assertEquals(at + 1, ProbedSlot.stale(session));
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
        assertTrue(slot.move(other, kind, 0));
        other.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
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
        long word = slot.word();
        assertFalse(SlotWord.hasPointers(word));
        ProbedSlot.point(session, key);
        assertTrue(SlotWord.hasPointers(slot.word()));
        other.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(0, status));
        assertEquals(BlockFormat.marked(SlotWord.incarnation(word)), slot.mark(word));
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

    /** A full bucket, or full memory, makes room for another key: the victim's pointers lead nowhere. */
    @ParameterizedTest
    @CsvSource({"1,100", "3,100", "1,2000", "3,2000"})
    void whatIsCrowdedOutOrEvictedIsMarked(int servers, int objects) {
        open(servers, objects, EvictionSettings.of("fifo"));
        int gone = 0;
        for (int round = 0; round < 20 && gone < 5; round++) {
            for (int hot = 0; hot < 20; hot++) {
                session.set(TestKeys.bytes(hot), value(round));
                ProbedSlot.point(session, TestKeys.bytes(hot));
            }
            for (int i = 0; i < 400 * servers; i++) {
                other.set(TestKeys.bytes(1000 + i), new byte[4000]);
            }
            for (int hot = 0; hot < 20; hot++) {
                byte[] there = other.get(TestKeys.bytes(hot));
                assertArrayEquals(there, session.get(TestKeys.bytes(hot)));
                gone += there == null ? 1 : 0;
            }
        }
        assertTrue(gone > 0, "no object with a pointer has made room");
        // One in 64 gets asks the slot at once.
        assertTrue(ProbedSlot.stale(session) >= gone / 2, ProbedSlot.stale(session) + " of " + gone);
        assertEquals(0, other.requests().counts().of(MapSessionCounts.VICTIMS_LOST));
        assertEquals(0, other.requests().counts().of(MapSessionCounts.SWAPS_LOST));
        // Whatever was marked has been taken out of its slot, too.
        Audit.of(space, List.of(session, other));
    }

    /** The session that marked the block has died before its compare-and-swap. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aKeyDoesNotStaySlowForEver(int servers) {
        open(servers);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        long word = slot.word();
        slot.setMark(word, BlockFormat.marked(SlotWord.incarnation(word)));
        long before = ProbedSlot.hits(session);
        long version = 0;
        for (int i = 0; i < MANY; i++) {
            assertArrayEquals(value(1), session.get(key));
            version = i == 0 ? session.getVersioned(key).version() : version;
        }
        assertTrue(ProbedSlot.hits(session) > before, "each get reads the slot");
        assertTrue(SlotWord.hasPointers(slot.word()) && !SlotWord.isSame(word, slot.word()));
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
        slot.store(3, SlotWord.withPointers(word));
        assertThrows(MapException.class, () -> run(request));
        assertEquals(SlotWord.withPointers(word), slot.word());
        slot.store(3, word);
        run(request);
        assertFalse(SlotWord.isSame(word, slot.word()), "the slot is emptied");
        assertEquals(1, session.requests().counts().of(MapSessionCounts.UNLINKED));
    }

    /** Such a slot has the fingerprint of a key that is in a higher slot. */
    @Test
    void whatCannotBeMarkedHidesNoKey() {
        open(1);
        long place = (long) space.space.regions() << space.shape.placeShift() | 1 << 10;
        int fingerprint = KeyHash.fingerprint(TestKeys.hash(key));
        slot.store(0, SlotWord.live(place, SlotWord.FIRST_INCARNATION, fingerprint ^ 1, 1));
        session.set(key, value(1));
        assertEquals(1, slot.slot());
        long word = SlotWord.withPointers(SlotWord.live(place, SlotWord.FIRST_INCARNATION, fingerprint, 1));
        slot.store(0, word);
        for (Request request : Request.values()) {
            assertArrayEquals(value(1), session.get(key));
            run(request);
            assertEquals(word, slot.word());
        }
        assertThrows(
                MapException.class, () -> session.get(key), "it was deleted, and may be the one in the other slot");
    }

    /** No process knows the region: the first server has said so since this one met the word. */
    @ParameterizedTest
    @EnumSource
    void aRegionThatNoProcessKnowsKeepsNoKeyLost(Request request) {
        open(1);
        long place = (long) space.space.regions() << space.shape.placeShift() | 1 << 10;
        long word = SlotWord.withPointers(
                SlotWord.live(place, SlotWord.FIRST_INCARNATION, KeyHash.fingerprint(TestKeys.hash(key)), 1));
        slot.store(3, word);
        assertTrue(space.space.mayBeRead(word));
        until(() -> !space.space.mayBeRead(word));
        assertTrue(space.space.mayBeRead(word + (1L << 16)), "it is met for the first time");
        run(request);
        assertFalse(SlotWord.isSame(word, slot.word()), "the slot stays");
    }

    /** A server has left, and a slot names a block there, which cannot be marked. */
    @Test
    void whatIsOnAServerThatHasLeftIsEmptiedWhenAllProcessesKnow() {
        open(1);
        String second = space.startServer(1, MIB);
        space.map.addServer(second, MIB);
        space.map.drain(second, Duration.ofSeconds(1));
        long place = 1L << space.shape.placeShift() | 1 << 10;
        long word = SlotWord.withPointers(
                SlotWord.live(place, SlotWord.FIRST_INCARNATION, KeyHash.fingerprint(TestKeys.hash(key)), 1));
        assertFalse(space.space.holdsBlock(word));
        slot.store(3, word);
        until(() -> !space.space.mayBeRead(word));
        assertNull(session.get(key));
        assertEquals(SlotWord.EMPTY, slot.word());
        // A process that has just learned of it.
        SpaceMemory fresh = new SpaceMemory(space.shape, TestKeys.HASH, space.space.layout(), space.spaces::get);
        fresh.grow(space.space.layout(), space.spaces::get);
        assertFalse(fresh.holdsBlock(word));
        assertTrue(fresh.mayBeRead(word));
        fresh.confirmed(1);
        assertTrue(fresh.mayBeRead(word), "they know that the server has joined");
        fresh.confirmed(2);
        assertFalse(fresh.mayBeRead(word));
    }

    @Test
    void theSessionsOfAProcessShareItsPointers() {
        open(1);
        try (MapSession first = space.map.openSession();
                MapSession second = space.map.openSession()) {
            first.set(key, value(1));
            ProbedSlot.point(first, key);
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
        long reads = 0;
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
                long before = of.posted().reads();
                of.get(name);
                reads += of.posted().reads() - before;
            }
        }
        double each = (double) reads / (requests - sets);
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
            ProbedSlot.point(slow, key);
            long word = slot.word();
            session.set(key, value(2));
            // The block is used again by a request that has not stored it yet, under the same incarnation.
            slot.setMark(word, BlockFormat.live(SlotWord.incarnation(word)));
            assertArrayEquals(value(1), slow.get(key), "the pointer leads there");
            // That begins an era in each process.
            String third = space.startServer(1, MIB);
            space.map.addServer(third, MIB);
            space.map.drain(third, Duration.ofSeconds(1));
            assertArrayEquals(value(2), slow.get(key));
        }
    }

    /** A process was stopped for longer than its lease: servers have not asked it before the block was used again. */
    @Test
    void aPointerIsNotUsedPastTheLease() {
        open(1);
        PointerCache pointers = new PointerCache(POINTERS);
        try (MapSession stopped = space.map.openSession(pointers)) {
            session.set(key, value(1));
            ProbedSlot.point(stopped, key);
            long word = slot.word();
            session.set(key, value(2));
            slot.setMark(word, BlockFormat.live(SlotWord.incarnation(word)));
            assertArrayEquals(value(1), stopped.get(key), "the pointer leads there");
            pointers.onlyUnder(() -> System.nanoTime() - 1);
            long hits = ProbedSlot.hits(stopped);
            for (int i = 0; i < 5; i++) {
                assertArrayEquals(value(2), stopped.get(key));
            }
            assertEquals(hits, ProbedSlot.hits(stopped));
            pointers.onlyUnder(() -> System.nanoTime() + 1_000_000_000_000L);
            ProbedSlot.point(stopped, key);
            assertArrayEquals(value(2), stopped.get(key));
        }
    }

    /** A broken client has written a word of a region that there is not, and one of no kind. */
    @Test
    void aDrainPassesWordsThatNameNoBlock() {
        open(1);
        String second = space.startServer(1, MIB);
        space.map.addServer(second, MIB);
        for (int i = 0; i < 50; i++) {
            session.set(TestKeys.bytes(100 + i), value(i));
        }
        long place = (long) space.space.regions() << space.shape.placeShift() | 1 << 10;
        long word = SlotWord.withPointers(SlotWord.live(place, SlotWord.FIRST_INCARNATION, 1, 1));
        slot.store(14, word);
        slot.store(15, SlotWord.claim(word) | 0x65);
        space.map.drain(second, Duration.ofSeconds(5));
        for (int i = 0; i < 50; i++) {
            assertArrayEquals(value(i), session.get(TestKeys.bytes(100 + i)));
        }
    }

    /** A broken client has written into the mark: no client could mark the block, so none may have a pointer to it. */
    @Test
    void aBlockWithAnotherMarkIsNotReadByAPointer() {
        open(1);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        long word = slot.word();
        slot.setMark(word, BlockFormat.live(SlotWord.incarnation(word)) | 1L << 20);
        long hits = ProbedSlot.hits(session);
        long stale = ProbedSlot.stale(session);
        for (int i = 0; i < 5; i++) {
            assertArrayEquals(value(1), session.get(key));
        }
        assertEquals(hits, ProbedSlot.hits(session));
        assertEquals(stale + 1, ProbedSlot.stale(session));
        other.set(key, value(2));
        assertArrayEquals(value(2), session.get(key));
    }

    /** A broken client has written a word of no kind into a slot: it is an object whose block cannot be. */
    @ParameterizedTest
    @CsvSource({"GET,0x7F", "SET,0x80", "ADD,0x35", "REPLACE,0xE5", "TOUCH,0x7F", "DELETE,0x80", "SET,0x7F", "GET,0xE5"
    })
    void aWordOfNoKindIsTakenOut(Request request, int low) {
        open(1);
        long place = 1 << 10;
        long live = SlotWord.live(place, SlotWord.FIRST_INCARNATION, KeyHash.fingerprint(TestKeys.hash(key)), 1);
        long word = SlotWord.claim(live) | low;
        slot.store(3, word);
        run(request);
        assertFalse(SlotWord.isSame(word, slot.word()), "the slot stays");
        assertEquals(1, session.requests().counts().of(MapSessionCounts.UNLINKED));
    }

    /** Sets that have ended are found by each get that begins later, by a pointer or not. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void noGetFindsAnOlderValueThanTheLastSetThatEnded(int servers) throws Exception {
        open(servers);
        int sets = 2000;
        AtomicInteger ended = new AtomicInteger();
        AtomicInteger begun = new AtomicInteger();
        session.set(key, TestKeys.bytes(0));
        session.release();
        other.release();
        Thread writer = new Thread(() -> {
            for (int number = 1; number <= sets; number++) {
                begun.set(number);
                other.set(key, TestKeys.bytes(number));
                ended.set(number);
                if (number % 4 == 0) {
                    // Time for gets by a pointer.
                    LockSupport.parkNanos(10_000);
                }
            }
            other.release();
        });
        writer.start();
        List<String> wrong = new ArrayList<>();
        while (writer.isAlive()) {
            long least = ended.get();
            byte[] value = session.get(key);
            assertNotNull(value);
            long found = TestKeys.number(value);
            long most = begun.get();
            if (found < least || found > most) {
                wrong.add(found + " of " + least + " to " + most);
            }
        }
        writer.join();
        assertEquals(sets, ended.get());
        assertEquals(List.of(), wrong);
        assertTrue(ProbedSlot.hits(session) > 20, ProbedSlot.hits(session) + " hits");
        assertTrue(ProbedSlot.stale(session) > 20, ProbedSlot.stale(session) + " stale pointers");
    }

    /**
     * The keeper begins an era before it can see a request's stamp, and so it does not wait for the request: a segment
     * may begin again meanwhile.
     */
    @Test
    void aGetThatWasStampedTooLateUsesNoPointer() throws Exception {
        open(1);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        Object pipeline = Fields.get(session.requests(), "pipeline", Object.class);
        LongSupplier era = Fields.get(pipeline, "era", LongSupplier.class);
        AtomicInteger looks = new AtomicInteger();
        LongSupplier late = () -> era.getAsLong() + looks.getAndIncrement() % 2;
        Fields.field(pipeline, "era").set(pipeline, late);
        VerbCounts before = session.posted();
        long hits = ProbedSlot.hits(session);
        assertArrayEquals(value(1), session.get(key));
        assertEquals(2, looks.get());
        assertEquals(2, session.posted().since(before).reads());
        assertEquals(hits, ProbedSlot.hits(session));
        Fields.field(pipeline, "era").set(pipeline, era);
        assertArrayEquals(value(1), session.get(key));
        assertEquals(hits + 1, ProbedSlot.hits(session));
    }

    /** A process that only reads has no free blocks at first. */
    @Test
    void aReaderStoresAnObjectThatStaysMarked() {
        open(1);
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        long word = slot.word();
        slot.setMark(word, BlockFormat.marked(SlotWord.incarnation(word)));
        try (MapSession reader = space.map.openSession(new PointerCache(POINTERS))) {
            ProbedSlot.point(reader, key);
            assertFalse(SlotWord.isSame(word, slot.word()));
            assertArrayEquals(value(1), reader.get(key));
        }
        Audit.of(space, List.of(session, other));
    }

    /** Each key's slot is asked now and then, however the gets alternate. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3, 32, 64})
    void aTurnOfManyKeysAsksForEach(int keys) {
        open(1);
        for (int i = 0; i < keys; i++) {
            session.set(TestKeys.bytes(i), value(i));
            ProbedSlot.point(session, TestKeys.bytes(i));
        }
        int[] asked = new int[keys];
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i < keys; i++) {
                long reads = session.posted().reads();
                session.get(TestKeys.bytes(i));
                asked[i] += session.posted().reads() - reads > 1 ? 1 : 0;
            }
        }
        assertTrue(Arrays.stream(asked).min().orElse(0) > 0, () -> Arrays.toString(asked));
    }

    /** Of many gets at the same time one says in the slot that there are pointers. */
    @Test
    void getsAtTheSameTimeSayOnceThatThereArePointers() {
        open(1);
        session.set(key, value(1));
        session.get(key);
        VerbCounts before = session.posted();
        for (int i = 0; i < 10; i++) {
            assertTrue(session.get(MemorySegment.ofArray(key), i));
        }
        session.requests().awaitAll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
        ProbedSlot.point(session, key);
        assertEquals(1, session.posted().since(before).swaps());
    }

    @Test
    void aProcessWithoutPointersMarksForOthers() {
        open(1);
        try (MapSession plain = space.map.openSession(new PointerCache(0))) {
            session.set(key, value(1));
            ProbedSlot.point(session, key);
            plain.set(key, value(2));
            assertArrayEquals(value(2), session.get(key));
            for (int i = 0; i < 10; i++) {
                assertArrayEquals(value(2), plain.get(key));
            }
            assertEquals(0, ProbedSlot.hits(plain));
        }
    }

    @Test
    void valuesInPiecesAreFoundByTheTable() {
        open(1);
        byte[] large = new byte[40_000];
        session.set(key, large);
        for (int i = 0; i < 10; i++) {
            assertArrayEquals(large, session.get(key));
            session.poll((tag, status, found, at, bytes) -> {});
        }
        assertEquals(0, ProbedSlot.hits(session));
        session.set(key, value(1));
        ProbedSlot.point(session, key);
        session.set(key, large);
        assertArrayEquals(large, session.get(key));
        assertFalse(SlotWord.hasPointers(slot.word()));
    }
}
