package io.farheap.kv.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.SlotWord;
import org.junit.jupiter.api.Test;

class VictimPoolTest {

    private static final long ERA = 3;

    private final VictimPool finds = new VictimPool();

    private void add(int slot, long lastAccess, long now) {
        finds.add(2, 4096, slot, 1000 + slot, 1, ERA, lastAccess, now);
    }

    private int take() {
        assertTrue(finds.any(ERA, 10_000, 0));
        int slot = finds.slot(finds.first());
        finds.take();
        return slot;
    }

    @Test
    void oneThatIsTooSmallIsPassedOver() {
        for (int units = 3; units <= 5; units++) {
            finds.add(2, 4096, units, SlotWord.live(1, 1, 0, units), 1, ERA, 0, 10_000);
        }
        assertTrue(finds.any(ERA, 10_000, 4));
        assertEquals(4, take());
        assertFalse(finds.any(ERA, 10_000, 6));
    }

    @Test
    void comeBackInTheirOrderAndOnce() {
        add(5, 0, 10_000);
        add(6, 0, 10_000);
        assertTrue(finds.any(ERA, 10_000, 0));
        int first = finds.first();
        assertEquals(2, finds.region(first));
        assertEquals(4096, finds.bucketAt(first));
        assertEquals(1005, finds.word(first));
        assertEquals(1, finds.experts(first));
        assertEquals(5, take());
        assertEquals(6, take());
        assertFalse(finds.any(ERA, 10_000, 0));
    }

    @Test
    void areDroppedWhenAPartOfTheirAgeHasPassed() {
        add(5, 6_800, 10_000);
        assertTrue(finds.any(ERA, 10_100, 0));
        assertFalse(finds.any(ERA, 10_101, 0), "3,200 ticks old, and 101 since");
    }

    @Test
    void areDroppedInAnotherEra() {
        add(5, 0, 10_000);
        assertFalse(finds.any(ERA + 1, 10_000, 0));
        assertFalse(finds.any(ERA, 10_000, 0), "for good");
    }

    @Test
    void areDroppedAfterManyEvictions() {
        add(5, 0, 10_000);
        for (int i = 0; i < 15; i++) {
            finds.evicts();
        }
        assertTrue(finds.any(ERA, 10_000, 0));
        finds.evicts();
        assertFalse(finds.any(ERA, 10_000, 0));
    }

    @Test
    void theOldestGoWhereThereAreTooMany() {
        for (int i = 0; i < 20; i++) {
            add(i, 0, 10_000);
        }
        for (int i = 4; i < 20; i++) {
            assertEquals(i, take());
        }
        assertFalse(finds.any(ERA, 10_000, 0));
    }
}
