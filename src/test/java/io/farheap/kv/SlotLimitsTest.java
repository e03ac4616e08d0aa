package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.OneBucket;
import io.farheap.kv.format.Slot;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.MapSessionCounts;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

/** Numbers of a slot that have reached the limit of their bits. */
class SlotLimitsTest {

    private static final byte[] KEY = {1, 2, 3};
    private static final int VALUE_BYTES = 16_000;
    private static final int ACCESSES = 100;
    private static final long SECONDS_OF_A_SLOT = 1L << 32;

    private static int number(byte[] slot, int at) {
        return MemorySegment.ofArray(slot).get(JAVA_INT_UNALIGNED, at);
    }

    private static void idle(MapSession session) {
        for (int i = 0; i < 1000; i++) {
            session.poll((tag, status, memory, at, bytes) -> {});
        }
    }

    /** The fetch-and-add that counts accesses is of 8 bytes, whose upper half is the expiry. */
    @Test
    void aFrequencyAtItsEndDoesNotCarryIntoTheExpiry() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("lfu"));
                MapSession session = bucket.space.map.openSession()) {
            session.set(KEY, new byte[8], 1_000_000);
            byte[] slot = bucket.slot();
            int expiry = number(slot, Slot.EXPIRY);
            MemorySegment.ofArray(slot).set(JAVA_INT_UNALIGNED, Slot.FREQUENCY, -1);
            bucket.write(0, slot);
            for (int i = 0; i < ACCESSES; i++) {
                assertArrayEquals(new byte[8], session.get(KEY));
            }
            idle(session);
            assertEquals(expiry, number(bucket.slot(), Slot.EXPIRY));
            assertTrue(Integer.toUnsignedLong(number(bucket.slot(), Slot.FREQUENCY)) >= 1L << 31);
        }
    }

    /** The object was used last, so it is evicted before the others only if it is taken for expired. */
    @Test
    void whatLivesLongerThanASlotCanSayIsNotTakenForOver() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.of("lru"));
                MapSession session = bucket.space.map.openSession()) {
            session.set(KEY, new byte[VALUE_BYTES], SECONDS_OF_A_SLOT * 1000 + 1000);
            bucket.space.clock.millis = 1_000_000;
            for (int other = 0; session.requests().counts().of(MapSessionCounts.EVICTED) < 4; other++) {
                assertTrue(other < 100, "nothing was evicted");
                assertArrayEquals(new byte[VALUE_BYTES], session.get(KEY), "it was evicted");
                session.set(TestKeys.bytes(other), new byte[VALUE_BYTES]);
            }
        }
    }
}
