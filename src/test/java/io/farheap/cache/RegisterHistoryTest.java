package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.farheap.testing.RegisterHistory;
import org.junit.jupiter.api.Test;

/** The checker of histories accepts linearizable ones, and finds each kind of violation. */
class RegisterHistoryTest {

    private final RegisterHistory history = new RegisterHistory();

    @Test
    void acceptsConcurrentWritesSeenInOneOrder() {
        history.write(1, 0, 10);
        history.write(2, 1, 9);
        history.read(1, 11, 12);
        history.read(1, 13, 14);
        assertNull(history.violation());
    }

    @Test
    void acceptsTheInitialValueUntilTheFirstWriteIsOver() {
        history.write(1, 5, 10);
        history.read(RegisterHistory.INITIAL, 6, 7);
        history.read(1, 6, 8);
        assertNull(history.violation());
    }

    @Test
    void findsAStaleRead() {
        history.write(1, 0, 1);
        history.write(2, 2, 3);
        history.read(1, 4, 5);
        assertNotNull(history.violation());
    }

    @Test
    void findsALostWrite() {
        history.write(1, 0, 1);
        history.read(RegisterHistory.INITIAL, 2, 3);
        assertNotNull(history.violation());
    }

    @Test
    void acceptsAnAttemptThatWasReadOrWasNot() {
        history.write(1, 0, 1);
        history.attempt(2, 2, 5);
        history.attempt(3, 2, 5);
        history.read(1, 6, 7);
        history.read(1, 8, 9);
        assertNull(history.violation());
        history.write(4, 10, 11);
        history.attempt(5, 12, 15);
        history.read(5, 13, 14);
        history.read(5, 16, 17);
        assertNull(history.violation());
    }

    @Test
    void findsAnAttemptThatTookEffectAfterItsCallback() {
        history.write(1, 0, 1);
        history.attempt(2, 2, 5);
        history.read(1, 6, 7);
        history.read(2, 8, 9);
        assertNotNull(history.violation());
    }

    @Test
    void findsReadsThatGoBack() {
        history.write(1, 0, 100);
        history.write(2, 0, 100);
        history.read(1, 1, 2);
        history.read(2, 3, 4);
        history.read(1, 5, 6);
        assertNotNull(history.violation());
    }

    /** The message has to show whether a read was early or a write late. */
    @Test
    void tellsTheBoundsOfReadsAndWritesApart() {
        history.write(0x1a, 0, 100);
        history.write(0x2b, 3, Long.MAX_VALUE);
        history.read(0x1a, 1, 2);
        history.read(0x2b, 4, 6);
        history.read(0x1a, 7, 9);
        history.read(0x2b, 8, 10);
        assertEquals(
                "two values each were read after the other: 1a (write invoked 0, responded 100; 2 reads, the first response 2, the last"
                        + " invocation 7) and 2b (write invoked 3, its response is unknown; 2 reads, the first response 6, the last invocation 8)",
                history.violation());
    }

    @Test
    void tellsOfReadsOfWhatNobodyWroteOrNotYet() {
        history.read(7, 0, 1);
        assertEquals(
                "a read returned 7 (not written; 1 reads, the first response 1, the last invocation 0), which nobody wrote",
                history.violation());
        history.write(7, 3, 4);
        assertEquals(
                "a read returned a value before it was written: 7 (write invoked 3, responded 4; 1 reads, the first response 1, the last"
                        + " invocation 0)",
                history.violation());
    }

    @Test
    void findsAValueThatNobodyWrote() {
        history.read(7, 0, 1);
        assertNotNull(history.violation());
    }

    @Test
    void findsAReadFromTheFuture() {
        history.read(3, 0, 1);
        history.write(3, 2, 4);
        assertNotNull(history.violation());
    }
}
