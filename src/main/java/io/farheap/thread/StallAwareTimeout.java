package io.farheap.thread;

import java.util.function.LongSupplier;

/**
 * How long a thread goes on looking for what others are to do. Time in which the looking thread itself stood still does
 * not count: where a process or its machine was stopped for a minute, the others have not had that minute either. One
 * thread.
 */
public final class StallAwareTimeout {

    /** Between two looks no more than this counts. */
    private static final long MOST_OF_A_LOOK_NANOS = 100_000_000;

    private final LongSupplier clock;
    private final long nanos;
    private long last;
    private long spent;

    public StallAwareTimeout(long nanos) {
        this(nanos, System::nanoTime);
    }

    /** @param clock in ns */
    StallAwareTimeout(long nanos, LongSupplier clock) {
        this.clock = clock;
        this.nanos = nanos;
        last = clock.getAsLong();
    }

    /** Whether it is over; to be asked at each look. */
    public boolean over() {
        long now = clock.getAsLong();
        spent += Math.min(now - last, MOST_OF_A_LOOK_NANOS);
        last = now;
        return spent >= nanos;
    }
}
