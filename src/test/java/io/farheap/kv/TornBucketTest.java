package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.OneBucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.memory.NativeMemory;
import io.farheap.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.RepetitionInfo;
import org.junit.jupiter.api.Test;

/**
 * The READ of a bucket is not of one moment. The test makes the steps of several sessions in the order of a history of
 * the model, and lets a READ find in one slot what another moment would show: it writes the word that the slot had
 * earlier, and after the READ the one that belongs there.
 */
class TornBucketTest {

    private static final KvHandler NOTHING = (tag, status, found, at, bytes) -> {};
    private static final long NOT_READ = 0x5555_5555_5555_5555L;
    private static final int POINTERS = 100;

    private final byte[] key = TestKeys.bytes(1);
    private final byte[] other = otherFingerprint();

    private OneBucket bucket;
    private MapSession low;
    private MapSession high;
    private MapSession third;
    private MapSession reader;

    private static byte[] otherFingerprint() {
        int fingerprint = KeyHash.fingerprint(TestKeys.hash(TestKeys.bytes(1)));
        long number = 2;
        while (KeyHash.fingerprint(TestKeys.hash(TestKeys.bytes(number))) == fingerprint) {
            number++;
        }
        return TestKeys.bytes(number);
    }

    @BeforeEach
    void open() {
        bucket = new OneBucket(EvictionSettings.ADAPTIVE);
        low = session();
        high = session();
        third = session();
        reader = session();
    }

    /**
     * A session that has free blocks, and pointers of its own, as one of another process has. It knows the key, so that
     * clients may keep pointers to each object that it stores, and a request that changes the slot marks the block.
     */
    private MapSession session() {
        MapSession session = bucket.space.map.openSession(new PointerCache(POINTERS));
        session.set(key, new byte[] {0});
        session.get(key);
        session.delete(key);
        return session;
    }

    @AfterEach
    void close() {
        low.close();
        high.close();
        third.close();
        reader.close();
        bucket.close();
    }

    /**
     * Begins insertions of value 1 into the lowest slot and of value 2 into the one above: each of the two sessions has
     * read the bucket, and has found its slot empty and the key absent.
     */
    private void beginInsertions() {
        reader.set(other, new byte[] {9});
        begin(high, () -> high.set(segment(key), segment(2), 0));
        reader.delete(other);
        begin(low, () -> low.set(segment(key), segment(1), 0));
    }

    private static MemorySegment segment(int value) {
        return segment(new byte[] {(byte) value});
    }

    private static MemorySegment segment(byte[] bytes) {
        return MemorySegment.ofArray(bytes);
    }

    /** Begins a request whose first READ is that of its bucket, and waits for that READ alone. */
    private static void begin(MapSession session, BooleanSupplier request) {
        RequestColumns operations = session.requests().operations();
        long copy = operations.bucket(operations.next());
        long last = Slot.offset(SpaceShape.BUCKET_SLOTS) - Long.BYTES;
        NativeMemory.ALL.set(JAVA_LONG, copy, NOT_READ);
        NativeMemory.ALL.set(JAVA_LONG, copy + last, NOT_READ);
        assertTrue(request.getAsBoolean());
        until(() -> NativeMemory.ALL.get(JAVA_LONG, copy) != NOT_READ
                && NativeMemory.ALL.get(JAVA_LONG, copy + last) != NOT_READ);
    }

    /** The same for a READ that finds in a slot what was there earlier. */
    private void beginTorn(int slot, byte[] earlier, MapSession session, BooleanSupplier request) {
        byte[] now = bucket.slot(slot);
        bucket.write(slot, earlier);
        begin(session, request);
        bucket.write(slot, now);
    }

    private static void until(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it does not come so far");
            Thread.onSpinWait();
        }
    }

    /** Lets a session continue until a slot that was empty has an object or a claim. */
    private void fill(MapSession session, int slot) {
        assertEquals(SlotWord.EMPTY, bucket.word(slot));
        until(() -> {
            session.poll(NOTHING);
            return bucket.word(slot) != SlotWord.EMPTY;
        });
    }

    private static int await(MapSession session) {
        int[] ended = {-1};
        until(() -> {
            session.poll((tag, status, found, at, bytes) -> ended[0] = status);
            return session.inFlight() == 0;
        });
        return ended[0];
    }

    private static int awaitValue(MapSession session) {
        int[] value = {0};
        until(() -> {
            session.poll((tag, status, found, at, bytes) ->
                    value[0] = status == KvStatus.DONE ? found.get(JAVA_BYTE, at) : 0);
            return session.inFlight() == 0;
        });
        return value[0];
    }

    /** @return 0 if the key is absent */
    private int get() {
        byte[] value = reader.get(key);
        return value == null ? 0 : value[0];
    }

    /** The delete's READ found the higher slot empty, before its insertion, and the lower one with its object. */
    @Test
    void aDeleteThatSawOneOfTwoInsertionsBringsNoOlderValueBack() {
        beginInsertions();
        byte[] earlier = bucket.slot(1);
        assertEquals(KvStatus.DONE, await(high));
        fill(low, 0);
        int before = get();
        beginTorn(1, earlier, third, () -> third.delete(segment(key), 0));
        await(third);
        assertEquals(KvStatus.DONE, await(low));
        int after = get();
        assertFalse(before == 1 && after == 2, "the older value is back");
        assertTrue(third.delete(key) || after == 0);
        assertNull(reader.get(key));
    }

    /** The get's READ found the higher slot before its object was removed, and the lower one after its own was. */
    @Test
    void aGetThatReadTheSlotsAtTwoMomentsFindsNoOlderValue() {
        beginInsertions();
        assertEquals(KvStatus.DONE, await(high));
        fill(low, 0);
        int before = get();
        assertTrue(third.touch(key, 0));
        byte[] earlier = bucket.slot(1);
        assertEquals(KvStatus.DONE, await(low));
        beginTorn(1, earlier, third, () -> third.get(segment(key), 0));
        int after = awaitValue(third);
        assertFalse(before == 1 && after == 2, "the older value is back");
        assertEquals(1, get());
    }

    /** Of two insertions one sees the other's claim, so that the key is in one slot. */
    @Test
    void twoInsertionsFillOneSlot() {
        beginInsertions();
        fill(high, 1);
        fill(low, 0);
        assertEquals(KvStatus.DONE, await(low));
        assertEquals(KvStatus.DONE, await(high));
        assertEquals(1, live(), "slots with the key");
        assertArrayEquals(new byte[] {2}, reader.get(key));
    }

    /** Whichever of the sessions makes its next steps, one of them alone fills a slot. */
    @RepeatedTest(5)
    void threeInsertionsFillOneSlot(RepetitionInfo repetition) {
        SplittableRandom random = new SplittableRandom(repetition.getCurrentRepetition());
        List<MapSession> sessions = List.of(low, high, third);
        for (int round = 0; round < 20; round++) {
            for (MapSession session : sessions) {
                assertTrue(session.set(segment(key), segment(1 + sessions.indexOf(session)), 0));
            }
            until(() -> {
                sessions.get(random.nextInt(sessions.size()))
                        .poll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
                return sessions.stream().allMatch(session -> session.inFlight() == 0);
            });
            assertEquals(1, live(), "slots with the key");
            assertTrue(reader.delete(key));
            assertEquals(0, get());
        }
    }

    /** A slot may have the key's hash for the block of an update that lost its compare-and-swap. */
    @Test
    void theBlockOfAnUpdateThatFailedGetsItsNextIncarnation() {
        low.set(key, new byte[] {1});
        RequestColumns operations = high.requests().operations();
        int place = operations.next();
        begin(high, () -> high.replace(segment(key), segment(2), 0, 0));
        long own = operations.block[place];
        assertTrue(low.delete(key));
        assertEquals(KvStatus.ABSENT, await(high));
        List<Integer> incarnations = new ArrayList<>();
        high.requests().allocator().forEachFree(block -> {
            if (SlotWord.place(block) == SlotWord.place(own)) {
                incarnations.add(SlotWord.incarnation(block));
            }
        });
        assertEquals(List.of(SlotWord.incarnation(own) + 1), incarnations);
    }

    /** A get has read the slot before an update, and the block after it: the block is marked by then. */
    @Test
    void aGetKeepsNoPointerToAnObjectThatWasReplacedSince() {
        reader.set(key, new byte[] {1});
        byte[] earlier = bucket.slot(0);
        assertTrue(SlotWord.hasPointers(bucket.word(0)));
        low.set(key, new byte[] {2});
        beginTorn(0, earlier, third, () -> third.get(segment(key), 0));
        assertEquals(1, awaitValue(third), "it has read the slot before the update");
        assertArrayEquals(new byte[] {2}, third.get(key));
        assertEquals(0, ProbedSlot.stale(third), "it has kept a pointer");
        assertArrayEquals(new byte[] {2}, third.get(key));
        assertEquals(1, ProbedSlot.hits(third));
    }

    /**
     * A get has read the slot before an update, with a word without pointers, whose block is not marked therefore: the
     * slot has another word when the get is to say there that there are pointers.
     */
    @Test
    void aGetThatReadTheSlotBeforeAnUpdateOfAWordWithoutPointersKeepsNone() {
        try (MapSession plain = bucket.space.map.openSession(new PointerCache(0))) {
            plain.set(key, new byte[] {1});
            byte[] earlier = bucket.slot(0);
            assertFalse(SlotWord.hasPointers(bucket.word(0)));
            plain.set(key, new byte[] {2});
            long swaps = third.posted().swaps();
            beginTorn(0, earlier, third, () -> third.get(segment(key), 0));
            assertEquals(1, awaitValue(third), "it has read the slot before the update");
            until(() -> {
                third.poll(NOTHING);
                return third.posted().swaps() > swaps;
            });
            // Its answer comes after that of the compare-and-swap.
            assertNull(third.get(other));
            assertFalse(SlotWord.hasPointers(bucket.word(0)));
            assertArrayEquals(new byte[] {2}, third.get(key));
            assertEquals(0, ProbedSlot.hits(third) + ProbedSlot.stale(third), "it has kept a pointer");
        }
    }

    /**
     * Of two updates of one key both have read the word without pointers, and a get keeps a pointer after that. The one
     * that comes first marks the block, and the other finds that it was slower.
     */
    @Test
    void twoUpdatesThatReadTheSlotBeforeItHadPointersLeaveNoStaleOne() {
        try (MapSession plain = bucket.space.map.openSession(new PointerCache(0))) {
            plain.set(key, new byte[] {9});
        }
        begin(low, () -> low.replace(segment(key), segment(1), 0, 0));
        begin(high, () -> high.set(segment(key), segment(2), 0));
        assertFalse(SlotWord.hasPointers(bucket.word(0)));
        ProbedSlot.point(third, key);
        assertEquals(KvStatus.DONE, await(low));
        assertArrayEquals(new byte[] {1}, third.get(key));
        assertEquals(KvStatus.DONE, await(high));
        // The replace looks at what is there, so the set comes after it.
        assertArrayEquals(new byte[] {2}, third.get(key));
        assertArrayEquals(new byte[] {2}, reader.get(key));
        assertEquals(1, live(), "slots with the key");
    }

    private int live() {
        int live = 0;
        for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
            live += SlotWord.isLive(bucket.word(slot)) ? 1 : 0;
        }
        return live;
    }
}
