package io.farheap.procedure.service;

import java.util.function.LongSupplier;

/**
 * The time that a server thread runs for a lease. While another thread has its core, or the JVM has stopped it, time
 * passes that no lease is charged for. What the JVM does on the thread itself is charged: first runs of code, and its
 * deoptimization. Reading the thread's processor time takes as long as a short call, so it is read after something took
 * long, and when something begins a while after the last thing, or a millisecond after the last reading. One thread.
 */
final class RunningTime {

    /** What takes less is taken to have run all the time. */
    static final long LONG_NANOS = 100_000;

    static final long FRESH_NANOS = 1_000_000;
    /** What passes on the clock alone between two things that are no further apart is taken to pass in them. */
    static final long NEXT_NANOS = 20_000;

    private final LongSupplier clock;
    private final LongSupplier processor;
    /** Both times at one moment, so that what has passed on the clock alone since then is known. */
    private long clockBase;

    private long processorBase;
    private boolean based;
    /** When the last thing ended, or the bases were read. */
    private long last;

    /**
     * @param clock in ns, as {@link System#nanoTime}
     * @param processor the thread's processor time, in ns
     */
    RunningTime(LongSupplier clock, LongSupplier processor) {
        this.clock = clock;
        this.processor = processor;
    }

    long now() {
        return clock.getAsLong();
    }

    /** The time at which something begins. */
    long begin() {
        long now = clock.getAsLong();
        if (based && now - clockBase < FRESH_NANOS && now - last < NEXT_NANOS) {
            return now;
        }
        based = true;
        processorBase = processor.getAsLong();
        clockBase = clock.getAsLong();
        last = clockBase;
        return clockBase;
    }

    /**
     * For how long the thread has run between two times.
     *
     * @param began as {@link #begin} returned it last
     */
    long ran(long began, long ended) {
        long took = ended - began;
        last = ended;
        if (took < LONG_NANOS) {
            return took;
        }
        long ran = processor.getAsLong();
        long away = ended - clockBase - (ran - processorBase);
        clockBase = ended;
        processorBase = ran;
        return Math.clamp(took - away, 0, took);
    }
}
