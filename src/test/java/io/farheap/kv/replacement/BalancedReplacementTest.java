package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.policy.ObjectMetadata;
import org.junit.jupiter.api.Test;

class BalancedReplacementTest {

    private static final int OBJECTS = 10_000;
    private static final long ONCE = 1L << BalancedReplacement.ONCE;
    private static final long AGAIN = 1L << BalancedReplacement.AGAIN;

    private final Replacement replacement = new BalancedReplacement(OBJECTS);
    private final ObjectMetadata metadata = new ObjectMetadata();
    private final long[] words = new long[replacement.words()];

    private ObjectMetadata object(long inserted, long accessed, long frequency, long now) {
        return metadata.insertTime(inserted)
                .lastAccess(accessed)
                .frequency(frequency)
                .expiry(0)
                .now(now);
    }

    /** Evicts an object of this age, so that the replacement knows an age at eviction. */
    private void evictAtAge(long age) {
        replacement.begin();
        replacement.offer(0, object(1, 1, 1, 1 + age));
        assertEquals(0, replacement.choose());
    }

    @Test
    void objectsSeenOnceGoWhileTheyHaveNoShare() {
        replacement.begin();
        replacement.offer(1, object(10, 10, 5, 1000));
        replacement.offer(2, object(900, 950, 1, 1000));
        replacement.offer(3, object(800, 900, 1, 1000));
        assertEquals(3, replacement.choose());
        assertEquals(ONCE, replacement.experts());
        assertEquals(Replacement.NONE, replacement.choose(), "few objects give one victim");
    }

    @Test
    void regretsMoveTheShare() {
        assertEquals(0, replacement.weight(BalancedReplacement.ONCE));
        for (int i = 0; i < OBJECTS * 4; i++) {
            assertTrue(replacement.missed(i, i - 1, ONCE));
        }
        assertEquals(1, replacement.weight(BalancedReplacement.ONCE));
        replacement.begin();
        replacement.offer(1, object(10, 10, 5, 1000));
        replacement.offer(2, object(900, 900, 1, 1000));
        replacement.offer(3, object(700, 800, 2, 1000));
        assertEquals(1, replacement.choose(), "990 ticks over the root of four repeats, the other 200 over one");
        assertEquals(AGAIN, replacement.experts());
        for (int i = 0; i < OBJECTS * 4; i++) {
            replacement.missed(i, i - 1, AGAIN);
        }
        assertEquals(0, replacement.weight(BalancedReplacement.ONCE));
    }

    @Test
    void expiredAndUnnamedEntriesTeachNothing() {
        assertFalse(replacement.missed(OBJECTS + 1, 0, ONCE));
        assertTrue(replacement.missed(OBJECTS, 0, 0));
        assertEquals(0, replacement.weight(BalancedReplacement.ONCE));
    }

    /** An expert with few history entries is regretted seldom, so each of its regrets counts for more. */
    @Test
    void theRarerExpertsRegretCountsMore() {
        replacement.begin();
        replacement.offer(0, object(1, 1, 1, 10));
        for (int entry = 0; entry < 100; entry++) {
            replacement.offerHistory(100, entry, entry < 20 ? ONCE : AGAIN);
        }
        replacement.choose();
        replacement.missed(100, 1, ONCE);
        double up = replacement.weight(BalancedReplacement.ONCE);
        replacement.missed(100, 30, AGAIN);
        double down = up - replacement.weight(BalancedReplacement.ONCE);
        assertEquals(4, up / down, 0.01);
    }

    @Test
    void aLargeSampleGivesSeveralVictims() {
        replacement.begin();
        for (int slot = 0; slot < 3 * BalancedReplacement.OBJECTS_A_VICTIM; slot++) {
            replacement.offer(slot, object(slot + 1, slot + 1, 1, 1000));
        }
        assertEquals(0, replacement.choose());
        assertEquals(1, replacement.choose());
        assertEquals(2, replacement.choose());
        assertEquals(Replacement.NONE, replacement.choose());
        replacement.begin();
        assertEquals(Replacement.NONE, replacement.choose());
        replacement.begin();
        for (int slot = 0; slot < 2 * BalancedReplacement.MOST_OBJECTS; slot++) {
            replacement.offer(slot, object(1, 2000 - slot, 1, 3000));
        }
        assertEquals(BalancedReplacement.MOST_OBJECTS - 1, replacement.choose(), "more are not looked at");
    }

    @Test
    void whatHasExpiredGoesFirst() {
        replacement.begin();
        replacement.offer(1, object(1, 1, 1, 1000));
        replacement.offer(2, object(990, 990, 9, 1000).expiry(999));
        replacement.offer(3, object(1, 1, 1, 1000).expiry(1001));
        assertEquals(2, replacement.choose());
        assertEquals(0, replacement.experts());
    }

    @Test
    void accessesThatChangeNothingWriteNothing() {
        evictAtAge(1000);
        assertEquals(0, replacement.accessed(object(5000, 5000, 1, 5069)), "of one use");
        assertEquals(
                Replacement.WRITE_TIME | Replacement.COUNT_NOW,
                replacement.accessed(object(5000, 5000, 1, 5070)),
                "seen again");
        assertEquals(0, replacement.accessed(object(5000, 5100, 2, 5399)), "fresh");
        assertEquals(Replacement.WRITE_TIME | Replacement.COUNT, replacement.accessed(object(5000, 5100, 2, 5400)));
        assertEquals(
                Replacement.WRITE_TIME,
                replacement.accessed(object(5000, 5100, BalancedReplacement.MOST_COUNTED, 5400)),
                "counted enough");
    }

    @Test
    void whatReturnsKeepsItsCount() {
        replacement.inserted(metadata.frequency(77).now(9), false);
        assertEquals(1, metadata.frequency());
        assertEquals(9, metadata.lastAccess());
        replacement.inserted(metadata.frequency(1).now(10), true);
        assertEquals(2, metadata.frequency());
        replacement.inserted(metadata.frequency(77).now(10), true);
        assertEquals(BalancedReplacement.MOST_COUNTED, metadata.frequency());
        replacement.inserted(metadata.frequency(-5).now(10), true);
        assertEquals(2, metadata.frequency());
    }

    @Test
    void sessionsLearnFromEachOther() {
        SharedWeights controller = Replacements.controller(Replacements.ADAPTIVE);
        int regrets = 0;
        while (!replacement.due()) {
            replacement.missed(1, 0, ONCE);
            regrets++;
        }
        assertEquals(RegretBatch.FULL, regrets);
        exchange(replacement, controller);
        assertEquals(replacement.weight(0), controller.weight(0), 1e-12);
        assertEquals(1, controller.weight(0) + controller.weight(1), 1e-12);
        Replacement other = Replacements.named(Replacements.ADAPTIVE, OBJECTS, 2);
        exchange(other, controller);
        assertEquals(controller.weight(0), other.weight(0), 1e-12);
        assertTrue(other.weight(0) > 0);
    }

    private void exchange(Replacement session, SharedWeights controller) {
        session.send(words);
        controller.answer(words);
        session.answered(words);
    }

    @Test
    void nonsenseIsRefused() {
        for (double wrong : new double[] {-0.1, 1.1, Double.NaN}) {
            replacement.send(words);
            words[0] = Double.doubleToRawLongBits(wrong);
            assertThrows(IllegalArgumentException.class, () -> replacement.answered(words));
            assertEquals(0, replacement.weight(0));
        }
        SharedWeights controller = Replacements.controller(Replacements.ADAPTIVE);
        assertThrows(
                IllegalArgumentException.class,
                () -> controller.answer(new long[] {1, Double.doubleToRawLongBits(2), 0}));
        assertThrows(IllegalArgumentException.class, () -> new BalancedReplacement(0));
    }

    /** A slot may have any words. */
    @Test
    void anyWordsChooseSomething() {
        long[] odd = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE};
        for (long a : odd) {
            for (long b : odd) {
                replacement.accessed(object(a, b, a, 1000));
                replacement.begin();
                replacement.offer(1, object(a, b, b, 1000));
                replacement.offer(2, object(b, a, a, 1000).expiry(b));
                replacement.offerHistory(1000, a >>> 16, b);
                assertTrue(replacement.choose() > 0);
                replacement.missed(1000, a >>> 16, b);
                assertTrue(replacement.weight(0) >= 0 && replacement.weight(0) <= 1);
            }
        }
    }
}
