package io.farheap.manager.service.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class GrantClockTest {

    private static final long MINUTE_NANOS = 60_000_000_000L;
    private static final long MINUTE = 60_000;

    private long nanos = Long.MAX_VALUE - MINUTE_NANOS;
    private long time = 100 * MINUTE;
    private final GrantClock clock = new GrantClock(() -> nanos, () -> time);

    private void pass(long minutes) {
        nanos += minutes * MINUTE_NANOS;
        time += minutes * MINUTE;
    }

    @Test
    void itGoesOnWhereTheClockIsSetBack() {
        assertEquals(100 * MINUTE, clock.getAsLong());
        pass(2);
        assertEquals(102 * MINUTE, clock.getAsLong());
        time -= 30 * MINUTE;
        assertEquals(102 * MINUTE, clock.getAsLong());
        pass(1);
        assertEquals(103 * MINUTE, clock.getAsLong());
    }

    /** A user may set the clock forward, or the machine may sleep, while the other clock stands still. */
    @Test
    void itIsNeverBehindTheClock() {
        time += 30 * MINUTE;
        assertEquals(130 * MINUTE, clock.getAsLong());
        time -= 30 * MINUTE;
        pass(1);
        assertEquals(131 * MINUTE, clock.getAsLong());
        pass(40);
        assertEquals(171 * MINUTE, clock.getAsLong());
    }

    @Test
    void whatIsAskedForOftenLosesNothing() {
        time -= 30 * MINUTE;
        for (int i = 0; i < 1_000_000; i++) {
            nanos += 999;
            clock.getAsLong();
        }
        assertEquals(100 * MINUTE + 999, clock.getAsLong());
    }
}
