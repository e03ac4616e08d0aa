package io.farheap.kv.keeper;

import io.farheap.kv.space.MapClock;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A map's clock, which is that of its first server, as this process knows it: its own clock plus an offset. Each answer
 * of the server bounds the offset by the round trip (Cristian's algorithm). Any thread reads, one thread sets.
 */
public final class SynchronizedMapClock implements MapClock {

    /** How far two clocks drift apart at most, in millionths. */
    private static final long DRIFT = 500;

    private static final long MILLION = 1_000_000;

    private final LongSupplier nanos;
    private volatile long offset;
    private volatile long beats;
    /** The error of the offset when it was measured, and when that was. */
    private long error = Long.MAX_VALUE / 4;

    private long measured;

    /** @param nanos this process's clock */
    public SynchronizedMapClock(LongSupplier nanos) {
        this.nanos = nanos;
    }

    /** This process's clock, for the moments before and after the server's answer. */
    long local() {
        return nanos.getAsLong();
    }

    /**
     * Takes over a time that the server read between two moments of this process's clock. Keeps the better one of the
     * known offset and the new one; if they contradict each other, a clock has jumped, and the new one counts.
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

    /** How far the clock may be off at this moment, in nanoseconds. For the thread that sets it. */
    long errorNanos() {
        return error + Math.max(0, local() - measured) / MILLION * DRIFT;
    }

    /** In nanoseconds. A better offset may set it back a little. */
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
