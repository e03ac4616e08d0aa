package io.farheap.manager.service.grant;

import java.util.function.LongSupplier;

/**
 * The time of day for grants, in milliseconds since 1970. It never goes back and never stands still, whatever happens
 * to the system's clock. Servers continue to count from the latest time that they have received: grants by a manager
 * with an earlier clock would have expired already. Thread-safe.
 */
public final class GrantClock implements LongSupplier {

    private static final long NANOS_PER_MILLI = 1_000_000;

    private final LongSupplier nanos;
    private final LongSupplier millis;
    /** The time that was returned last, and when that was by the clock for time limits. */
    private long saidMillis;

    private long saidAt;

    /**
     * @param nanos a clock for time limits
     * @param millis the time of day, which may be set
     */
    public GrantClock(LongSupplier nanos, LongSupplier millis) {
        this.nanos = nanos;
        this.millis = millis;
        this.saidMillis = millis.getAsLong();
        this.saidAt = nanos.getAsLong();
    }

    @Override
    public synchronized long getAsLong() {
        long passed = (nanos.getAsLong() - saidAt) / NANOS_PER_MILLI;
        long counted = saidMillis + passed;
        saidAt += passed * NANOS_PER_MILLI;
        saidMillis = Math.max(counted, millis.getAsLong());
        return saidMillis;
    }
}
