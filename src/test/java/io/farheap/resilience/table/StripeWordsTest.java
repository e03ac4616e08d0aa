package io.farheap.resilience.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** The states of stripe words, and the conclusions that a reader may draw from two looks. */
class StripeWordsTest {

    private final StripeWords words = new StripeWords(16);

    @Test
    void aWriteKeepsOthersOutAndChangesTheVersion() {
        long before = words.look(3);
        assertTrue(words.tryWrite(3));
        assertTrue(StripeWords.writing(words.look(3)));
        assertFalse(StripeWords.same(before, words.look(3)));
        assertFalse(words.tryWrite(3));
        assertFalse(words.tryHold(3));
        assertTrue(words.tryWrite(4));
        words.endWrite(3);
        assertFalse(StripeWords.same(before, words.look(3)));
        assertTrue(words.tryWrite(3));
    }

    @Test
    void whoHoldsItChangesNothingForReaders() {
        long before = words.look(1);
        assertTrue(words.tryHold(1));
        assertTrue(StripeWords.same(before, words.look(1)));
        assertFalse(words.tryWrite(1));
        words.endHold(1);
        assertEquals(before, words.look(1));
    }

    @Test
    void whatIsOwedIsToldUntilItIsPaid() {
        assertTrue(words.tryWrite(1));
        words.owe(1, 0b101000);
        long owing = words.look(1);
        assertFalse(StripeWords.writing(owing));
        assertEquals(0b101000, StripeWords.owed(owing));
        assertFalse(words.tryWrite(1));
        assertFalse(words.tryHold(1));
        words.pay(1, 0b001000);
        assertEquals(0b100000, StripeWords.owed(words.look(1)));
        assertTrue(StripeWords.same(owing, words.look(1)));
        words.pay(1, 0b100000);
        assertTrue(StripeWords.same(owing, words.look(1)));
        assertTrue(words.tryWrite(1));
    }

    @Test
    void aReaderThatLookedBeforeAWriteIsToldAlsoWhereThatOwes() {
        long before = words.look(1);
        assertTrue(words.tryWrite(1));
        words.owe(1, 1);
        assertFalse(StripeWords.same(before, words.look(1)));
    }

    @Test
    void whoSaysThatItSleepsIsWoken() {
        int[] woken = {0};
        words.add(() -> woken[0]++);
        assertTrue(words.tryWrite(1));
        words.endWrite(1);
        assertEquals(0, woken[0]);
        words.beginWaiting();
        assertTrue(words.tryHold(1));
        words.endHold(1);
        assertEquals(1, woken[0]);
        words.endWaiting();
    }

    @Test
    void manyPagesShareWords() {
        StripeWords many = new StripeWords(1L << 40);
        assertTrue(many.tryWrite(5));
        assertFalse(many.tryWrite(5 + (1L << 20)));
        assertTrue(many.tryWrite(6));
    }
}
