package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.OneBucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.operation.MoveSteps;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A key that an insertion has left in two slots, with an older value in the higher one. */
class TwoSlotsTest {

    /** A value of this length takes a block of the largest size, of which the map has twelve. */
    private static final int VALUE_BYTES = 16_000;

    private static final int HIGHER_SLOT = 9;
    private static final int OTHERS = 100;

    private static byte[] key(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }

    private static byte[] value(int of) {
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, (byte) of);
        return value;
    }

    @Test
    void theHigherOneIsEvictedFirst() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("lru"));
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            first.set(key(0), value(0));
            long older = bucket.word(0);
            byte[] slot = bucket.slot();
            bucket.write(0, new byte[Slot.BYTES]);
            first.set(key(0), value(1));
            long newer = bucket.word(0);
            assertNotEquals(older, newer);
            // The older value was read last.
            MemorySegment copy = MemorySegment.ofArray(slot);
            copy.set(JAVA_LONG_UNALIGNED, Slot.ACCESSED, copy.get(JAVA_LONG_UNALIGNED, Slot.ACCESSED) + 1000);
            bucket.write(HIGHER_SLOT, slot);
            boolean gone = false;
            for (int other = 1; other <= OTHERS && !gone; other++) {
                second.set(key(other), value(other));
                gone = bucket.word(0) != newer;
                assertTrue(!gone || bucket.word(HIGHER_SLOT) != older, "the older value is back");
            }
            assertTrue(gone, "nothing was evicted");
            assertNull(second.get(key(0)));
        }
    }

    /**
     * A set takes a slot for its key's by the hash, which is still the hash of the slot's former object. So the set is
     * an insertion, and another insertion of the same key has filled a higher slot meanwhile.
     */
    @Test
    void aSetThatTookAnothersSlotForItsOwnTakesOutTheHigherOne() {
        long[] keys = TestKeys.of(2, true);
        byte[] mine = TestKeys.bytes(keys[0]);
        byte[] other = TestKeys.bytes(keys[1]);
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            // Afterwards the session has free blocks.
            second.set(mine, new byte[] {0});
            second.delete(mine);
            // The test tries again if the device executes the set's READ of the bucket after the higher slot is there.
            for (int tries = 0; second.requests().counts().of(MapSessionCounts.CROWDED_OUT) == 0; tries++) {
                assertTrue(tries < 1000);
                first.delete(mine);
                first.delete(other);
                first.set(mine, new byte[] {1});
                byte[] older = bucket.slot();
                bucket.write(0, new byte[Slot.BYTES]);
                first.set(other, new byte[] {2});
                // The slot looks as if its session had not written the metadata yet.
                byte[] stale = bucket.slot();
                System.arraycopy(older, Slot.HASH, stale, Slot.HASH, Long.BYTES);
                bucket.write(0, stale);
                assertTrue(second.set(MemorySegment.ofArray(mine), MemorySegment.ofArray(new byte[] {3}), 0, 1));
                bucket.write(HIGHER_SLOT, older);
                while (second.inFlight() > 0) {
                    second.poll((tag, status, found, at, bytes) -> assertEquals(KvStatus.DONE, status));
                }
            }
            assertEquals(SlotWord.EMPTY, bucket.word(HIGHER_SLOT));
            assertArrayEquals(new byte[] {3}, first.get(mine));
            assertNull(first.get(other));
        }
    }

    /** The second delete clears the slot that is left while the first delete is between the two slots. */
    @Test
    void ofTwoDeletesOneHasTakenItOut() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            first.set(key(0), new byte[] {1});
            byte[] older = bucket.slot();
            bucket.write(0, new byte[Slot.BYTES]);
            first.set(key(0), new byte[] {2});
            bucket.write(HIGHER_SLOT, older);
            int[] ended = {-1};
            assertTrue(first.delete(MemorySegment.ofArray(key(0)), 0));
            // The device has executed its first compare-and-swap, which this session has not polled.
            assertEquals(SlotWord.EMPTY, bucket.word(HIGHER_SLOT));
            assertTrue(second.delete(key(0)));
            while (first.inFlight() > 0) {
                first.poll((tag, status, found, at, bytes) -> ended[0] = status);
            }
            assertEquals(KvStatus.ABSENT, ended[0]);
            assertNull(first.get(key(0)));
        }
    }

    @Test
    void aDeleteOfBothSlotsHasTakenItOut() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession session = bucket.space.map.openSession()) {
            session.set(key(0), new byte[] {1});
            byte[] older = bucket.slot();
            bucket.write(0, new byte[Slot.BYTES]);
            session.set(key(0), new byte[] {2});
            bucket.write(HIGHER_SLOT, older);
            assertTrue(session.delete(key(0)));
            assertNull(session.get(key(0)));
            assertFalse(session.delete(key(0)));
        }
    }

    /**
     * A get and a touch of an expired object compare the keys of the higher slots first. They have no block, and such a
     * key is longer than the room for a block's head without its key.
     */
    @ParameterizedTest
    @CsvSource({"100, false", "100, true", "1024, false", "1024, true"})
    void theEndOfAnExpiredObjectIsTheEndOfBoth(int keyBytes, boolean touches) {
        byte[] key = new byte[keyBytes];
        new SplittableRandom(keyBytes).nextBytes(key);
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession session = bucket.space.map.openSession()) {
            session.set(key, new byte[] {1});
            byte[] older = bucket.slot();
            bucket.write(0, new byte[Slot.BYTES]);
            session.set(key, new byte[] {2}, 1000);
            bucket.write(HIGHER_SLOT, older);
            bucket.space.clock.millis = 2000;
            if (touches) {
                assertFalse(session.touch(key, 0));
            } else {
                assertNull(session.get(key));
            }
            assertEquals(SlotWord.EMPTY, bucket.word(0));
            assertEquals(SlotWord.EMPTY, bucket.word(HIGHER_SLOT), "the older value is back");
            assertNull(session.get(key));
        }
    }

    /** A drain evicts the object that a given slot names. Evicting the lower slot would bring the older value back. */
    @Test
    void aSlotBelowOneOfItsKeyIsNotEvicted() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession session = bucket.space.map.openSession()) {
            session.set(key(0), value(0));
            byte[] older = bucket.slot();
            bucket.write(0, new byte[Slot.BYTES]);
            session.set(key(0), value(1));
            bucket.write(HIGHER_SLOT, older);
            assertEquals(KvStatus.EXISTS, evict(session, bucket.word(0)));
            assertArrayEquals(value(1), session.get(key(0)));
        }
    }

    @Test
    void aSlotBelowOneOfItsFingerprintAloneIsEvicted() {
        long[] keys = TestKeys.of(2, true);
        byte[] lower = TestKeys.bytes(keys[0]);
        byte[] higher = TestKeys.bytes(keys[1]);
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession session = bucket.space.map.openSession()) {
            session.set(lower, new byte[] {1});
            session.set(higher, new byte[] {2});
            long word = bucket.word(0);
            assertEquals(SlotWord.fingerprint(word), SlotWord.fingerprint(bucket.word(1)));
            assertEquals(KvStatus.DONE, evict(session, word));
            assertNull(session.get(lower));
            assertArrayEquals(new byte[] {2}, session.get(higher));
        }
    }

    /** @return how the eviction of the lowest slot ended */
    private static int evict(MapSession session, long word) {
        int[] ended = {-1};
        assertTrue(session.requests().move(RequestColumns.EVICT, MoveSteps.slot(0, 0, 0), word, 0));
        while (session.inFlight() > 0) {
            session.poll((tag, status, found, at, bytes) -> ended[0] = status);
        }
        return ended[0];
    }
}
