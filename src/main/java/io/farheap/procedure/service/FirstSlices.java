package io.farheap.procedure.service;

import java.util.function.LongSupplier;

/**
 * The time that the first slices of a batch's calls take. A thread looks at no other ring before it has served a batch,
 * so calls that come after {@link #MOST_NANOS} of it are put off before they run. The time is estimated from the fuel
 * of each call, and the clock is read at a few calls, as reading it costs a part of what a short call does. One thread.
 */
final class FirstSlices {

    /** The most time of a batch after which another of its calls runs. */
    static final long MOST_NANOS = 40_000;

    private static final int LOOK_MASK = 7;

    private final LongSupplier clock;
    private double nanos;
    private int calls;
    private long began;

    /** @param clock in ns, as {@link System#nanoTime} */
    FirstSlices(LongSupplier clock) {
        this.clock = clock;
    }

    /** A batch begins, now. */
    void begin(long now) {
        nanos = 0;
        calls = 0;
        began = now;
    }

    /** Whether the next call runs now. */
    boolean mayRun() {
        if (nanos >= MOST_NANOS) {
            return false;
        }
        int call = calls++;
        if (call == 0 || (call & LOOK_MASK) != 0) {
            return true;
        }
        nanos = Math.max(nanos, (double) (clock.getAsLong() - began));
        return nanos < MOST_NANOS;
    }

    /** Calls have run, for this time by the procedure's estimate. */
    void ran(double time) {
        nanos += time;
    }
}
