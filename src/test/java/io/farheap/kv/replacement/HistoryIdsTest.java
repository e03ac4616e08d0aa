package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class HistoryIdsTest {

    private static final long WRAP = 1L << 48;

    /** The paper's rule, section 4.3.1, if the counter that a client knows is not behind the entry. */
    @Test
    void expiresAsThePaperSays() {
        SplittableRandom random = new SplittableRandom(1);
        int wrapped = 0;
        for (int i = 0; i < 100_000; i++) {
            long length = 1 + random.nextLong(1L << random.nextInt(1, 46));
            long entry = i % 2 == 0 ? WRAP - 1 - random.nextLong(2 * length) : random.nextLong(WRAP);
            long counter = HistoryIds.plus(entry, 1 + random.nextLong(2 * length));
            boolean expired = counter > entry ? counter - entry > length : counter + WRAP - entry > length;
            assertEquals(expired, HistoryIds.expired(counter, entry, length), counter + " " + entry + " " + length);
            wrapped += counter < entry ? 1 : 0;
        }
        assertTrue(wrapped > 1000, "only " + wrapped + " wrapped");
    }

    @Test
    void agesAreStepsAlsoAcrossTheWrap() {
        SplittableRandom random = new SplittableRandom(2);
        for (int i = 0; i < 100_000; i++) {
            long entry = i % 2 == 0 ? WRAP - 1 - random.nextLong(100) : random.nextLong(WRAP);
            long steps = random.nextLong(-1L << 46, 1L << 46) >> random.nextInt(46);
            long counter = HistoryIds.plus(entry, steps);
            assertTrue(counter >= 0 && counter < WRAP);
            assertEquals(steps, HistoryIds.age(counter, entry));
        }
    }

    @Test
    void anEntryNewerThanTheKnownCounterIsNew() {
        assertFalse(HistoryIds.expired(5, 5, 1));
        assertFalse(HistoryIds.expired(WRAP - 1, 3, 1));
        assertFalse(HistoryIds.expired(3, 4, 1));
        assertFalse(HistoryIds.expired(3, 2, 1));
        assertTrue(HistoryIds.expired(3, 1, 1));
        assertTrue(HistoryIds.expired(0, WRAP - 2, 1));
    }
}
