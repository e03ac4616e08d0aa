package io.farheap.thread;

import java.util.function.LongSupplier;

/**
 * A time limit for a thread that polls for work of other processes or threads. Time in which the polling thread itself
 * stood still does not count: if its process or machine was stopped for a minute, the others may have been stopped too.
 * One thread.
 */
public final class StallAwareTimeout {

    /** The most time that counts between two looks. */
    private static final long MOST_OF_A_LOOK_NANOS = 100_000_000;

    private final LongSupplier clock;
    private final long nanos;
    private long last;
    private long spent;

    public StallAwareTimeout(long nanos) {
        this(nanos, System::nanoTime);
    }

    /**
     * Begins a limit by a clock of its own, for instance a test's.
     *
     * @param clock in ns
     */
    public StallAwareTimeout(long nanos, LongSupplier clock) {
        this.clock = clock;
        this.nanos = nanos;
        last = clock.getAsLong();
    }

    /** Whether the limit has passed; call it at each look. */
    public boolean over() {
        long now = clock.getAsLong();
        spent += Math.min(now - last, MOST_OF_A_LOOK_NANOS);
        last = now;
        return spent >= nanos;
    }
}
