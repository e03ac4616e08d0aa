package io.farheap.kv.keeper;

import io.farheap.kv.space.MapClock;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The clock of a map, which is its first server's, as this process knows it: its own clock and an offset, which each
 * answer of the server's bounds by the round trip (Cristian's way). Any thread reads, one sets.
 */
public final class SynchronizedMapClock implements MapClock {

    /** What two clocks go apart at most, in millionths. */
    private static final long DRIFT = 500;

    private static final long MILLION = 1_000_000;

    private final LongSupplier nanos;
    private volatile long offset;
    private volatile long beats;
    /** Of the offset when it was measured, and when that was. */
    private long error = Long.MAX_VALUE / 4;

    private long measured;

    /** @param nanos this process's clock */
    public SynchronizedMapClock(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** This process's clock, for the moments between which the server has answered. */
    long local() {
        return nanos.getAsLong();
    }

    /**
     * The server said its time between two moments of this process's clock. The better one stays of what was known and
     * what this says; where they contradict each other, a clock has jumped, and this one counts.
     */
    // One thread.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    void answered(long sent, long server, long received) {
        beats++;
        long said = server - sent - (received - sent) / 2;
        long saidError = (received - sent) / 2 + 1;
        long known = error + Math.max(0, received - measured) / MILLION * DRIFT;
        if (saidError <= known || Math.abs(said - offset) > known + saidError || received < measured) {
            offset = said;
            error = saidError;
            measured = received;
        }
    }

    /** By how much it may be wrong at a moment of this process's clock, in nanoseconds. The thread that sets. */
    long errorNanos() {
        return error + Math.max(0, local() - measured) / MILLION * DRIFT;
    }

    /** In nanoseconds. What was learned of the server's clock may set it back a little. */
    @Override
    public long ticks() {
        return nanos.getAsLong() + offset;
    }

    @Override
    public long beats() {
        return beats;
    }

    @Override
    public long millis() {
        return TimeUnit.NANOSECONDS.toMillis(ticks());
    }
}
