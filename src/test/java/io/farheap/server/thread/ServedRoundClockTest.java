package io.farheap.server.thread;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a round of a server thread ends, and how often it reads the clock. */
class ServedRoundClockTest {

    private long now = Long.MAX_VALUE - 1_000;
    private int readings;
    private final ServedRound round = new ServedRound(() -> {
        readings++;
        return now;
    });

    private boolean serve(long nanos) {
        round.serving();
        now += nanos;
        return round.over();
    }

    @Test
    void aRoundWithOneBatchReadsNoClock() {
        for (int i = 0; i < 10; i++) {
            round.begin();
            assertFalse(serve(1_000_000), "the time of the first batch does not count");
        }
        assertEquals(0, readings);
    }

    @Test
    void itEndsWithTheBatchAfterWhichItHasTakenTooLong() {
        round.begin();
        assertFalse(serve(1_000_000));
        assertFalse(serve(ServedRound.MOST_NANOS - 1));
        assertTrue(serve(1));
        round.begin();
        assertFalse(serve(1_000_000));
        assertTrue(serve(ServedRound.MOST_NANOS));
    }
}
