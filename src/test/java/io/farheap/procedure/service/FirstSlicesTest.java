package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import org.junit.jupiter.api.Test;

/** How long a thread runs calls of one batch before it looks at its other rings. */
class FirstSlicesTest {

    private long now = Long.MAX_VALUE - 1_000;
    private final FirstSlices slices = new FirstSlices(() -> now);

    private int run(double estimate, long nanos) {
        slices.begin(now);
        int ran = 0;
        while (ran < 10_000 && slices.mayRun()) {
            slices.ran(estimate);
            now += nanos;
            ran++;
        }
        return ran;
    }

    @Test
    void theyEndByTheEstimate() {
        assertEquals(20, run(2_000, 0));
        assertFalse(slices.mayRun());
        assertEquals(20, run(2_000, 2_000));
        assertEquals(1, run(1e9, 0));
    }

    /** Code that costs more than its fuel says is noticed by the clock, within a few calls. */
    @Test
    void theyEndByTheClock() {
        assertEquals(24, run(1, 2_000));
        assertEquals(8, run(0, 1_000_000));
        assertEquals(10_000, run(0, 0));
    }
}
