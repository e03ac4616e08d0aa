package io.farheap.kv.format;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BucketTest {

    private static final long KEY = 0xAB00_0000_0000_0001L;
    /** Another key of the same fingerprint. */
    private static final long TWIN = 0xAB00_0000_0000_0002L;

    private static final long OTHER = 0xCD00_0000_0000_0003L;
    private static final long EXPERTS = 0x8001;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(SpaceShape.BUCKET_BYTES, 64);
    private final long bucket = memory.address();

    @AfterEach
    void free() {
        arena.close();
    }

    private void put(int slot, long word, long hash) {
        memory.set(JAVA_LONG, Slot.offset(slot), word);
        memory.set(JAVA_LONG, Slot.offset(slot) + Slot.HASH, SlotWord.besideHash(word, hash));
        memory.set(JAVA_LONG, Slot.offset(slot) + Slot.INSERTED, Bucket.historyRecord(hash, EXPERTS));
    }

    private void live(int slot, long hash) {
        put(slot, SlotWord.live(slot + 1, 1, KeyHash.fingerprint(hash), 1), hash);
    }

    @Test
    void aKeyMayBeInEverySlotOfItsFingerprint() {
        live(2, OTHER);
        live(4, TWIN);
        live(7, KEY);
        live(9, KEY);
        put(11, SlotWord.history(5, KeyHash.fingerprint(KEY)), KEY);
        assertEquals(4, Bucket.find(bucket, KEY, 0));
        assertEquals(7, Bucket.find(bucket, KEY, 5));
        assertEquals(9, Bucket.find(bucket, KEY, 8));
        assertEquals(Bucket.NONE, Bucket.find(bucket, KEY, 10));
        assertEquals(Bucket.NONE, Bucket.find(bucket, 0xEE00_0000_0000_0001L, 0));
    }

    @Test
    void aHashIsThatOfItsSlotsWordAlone() {
        live(5, KEY);
        assertTrue(Bucket.isOfHash(bucket, 5, KEY));
        assertFalse(Bucket.isOfHash(bucket, 5, TWIN));
        assertEquals(KEY, Bucket.hash(bucket, 5));
        // Another object of the same fingerprint is in the slot, and its hash has not been written yet.
        memory.set(JAVA_LONG, Slot.offset(5), SlotWord.live(6, 2, KeyHash.fingerprint(KEY), 1));
        assertFalse(Bucket.isOfHash(bucket, 5, KEY));
        assertFalse(Bucket.isOfHash(bucket, 5, TWIN));
    }

    @Test
    void theOldestHistoryEntryIsFoundAlsoWhereTheNumbersWrap() {
        long newest = 3;
        put(2, SlotWord.history(newest - 1, 1), OTHER);
        put(3, SlotWord.history(newest - 10, 2), OTHER);
        put(4, SlotWord.history(newest + 4, 3), OTHER);
        assertEquals(3, Bucket.findOldestHistory(bucket, newest));
        assertEquals(0, Bucket.findEmpty(bucket));
        put(5, SlotWord.history(7, KeyHash.fingerprint(KEY)), KEY);
        assertEquals(5, Bucket.findHistory(bucket, KEY));
        assertEquals(EXPERTS, Bucket.experts(bucket, 5));
        assertEquals(Bucket.NONE, Bucket.findHistory(bucket, TWIN));
    }
}
