package io.farheap.kv.eviction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class HistoryNumbersTest {

    private final HistoryNumbers numbers = new HistoryNumbers(4);

    private void come(long first) {
        numbers.ask();
        numbers.came(first);
    }

    @Test
    void eachIsTakenOnceInTheOrderInWhichTheyCame() {
        come(100);
        come(300);
        for (long number = 100; number < 108; number++) {
            assertEquals(number, numbers.take());
        }
        for (long number = 300; number < 308; number++) {
            assertTrue(numbers.any());
            assertEquals(number, numbers.take());
        }
        assertFalse(numbers.any());
    }

    @Test
    void requestsTogetherAskOnceForEight() {
        int asked = 0;
        for (int request = 0; request < 16; request++) {
            numbers.promise();
            if (numbers.few(0)) {
                numbers.ask();
                asked++;
            }
        }
        assertEquals(2, asked);
        numbers.came(0);
        numbers.came(8);
        for (int request = 0; request < 16; request++) {
            numbers.keep();
            assertTrue(numbers.any());
            numbers.take();
        }
        assertFalse(numbers.any());
    }

    @Test
    void whatWasPromisedIsNotSpare() {
        come(0);
        for (int request = 0; request < 8; request++) {
            assertTrue(numbers.spare());
            numbers.promise();
        }
        assertFalse(numbers.spare());
        numbers.keep();
        assertTrue(numbers.spare());
    }

    @Test
    void whatIsLostIsAskedForAgain() {
        assertTrue(numbers.few(1));
        numbers.ask();
        assertFalse(numbers.few(1));
        numbers.lost();
        assertTrue(numbers.few(1));
    }

    @Test
    void moreThanThereIsRoomForIsForgotten() {
        for (int i = 0; i < 20; i++) {
            come(100L * i);
        }
        int taken = 0;
        for (; numbers.any(); taken++) {
            numbers.take();
        }
        assertEquals(8 * 8, taken);
    }
}
