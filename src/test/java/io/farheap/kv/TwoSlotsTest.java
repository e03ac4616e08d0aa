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
