package io.farheap.manager.service.caches;

import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * How far the time of day has been moved against the monotonic clock, as by a clock that is set or a machine that was
 * suspended. Slow corrections are no such moves. Guarded by the manager's lock.
 */
public final class ClockJumps {

    private static final System.Logger LOG = System.getLogger(ClockJumps.class.getName());
    private static final long NANOS_PER_MILLI = 1_000_000;
    private static final double MILLIS_PER_SECOND = 1_000;
    /** A move of at most so much between two looks is a correction. */
    private static final long MOST_MILLIS = 1_000;

    /** The clocks are read again if this process stood still for longer in between. */
    private static final long APART_NANOS = 100_000_000L;

    private static final int MOST_TRIES = 3;

    private final LongSupplier nanos;
    private final LongSupplier millis;
    /** The time of day less that of the monotonic clock at the last look. */
    private long difference;

    private long ahead;
    private long count;

    /**
     * @param nanos the monotonic clock
     * @param millis the time of day
     */
    public ClockJumps(LongSupplier nanos, LongSupplier millis) {
        this.nanos = nanos;
        this.millis = millis;
        difference = read();
    }

    private long read() {
        long before = nanos.getAsLong();
        long time = millis.getAsLong();
        long after = nanos.getAsLong();
        for (int i = 1; i < MOST_TRIES && after - before > APART_NANOS; i++) {
            before = after;
            time = millis.getAsLong();
            after = nanos.getAsLong();
        }
        return time - Math.floorDiv(before, NANOS_PER_MILLI);
    }

    /**
     * Compares the clocks; called a few times a second. The log says if the time of day was moved.
     *
     * @return by how many ms it was moved ahead since the beginning, all moves together; less than 0 if back
     */
    public long look() {
        long latest = read();
        long moved = latest - difference;
        difference = latest;
        if (Math.abs(moved) > MOST_MILLIS) {
            ahead += moved;
            count++;
            LOG.log(
                    System.Logger.Level.WARNING,
                    String.format(
                            Locale.ROOT,
                            "the time of day has moved by %+.1f s against the monotonic clock, for the %d. time since "
                                    + "this manager leads; no cache is ended for that: is the machine's clock right?",
                            moved / MILLIS_PER_SECOND,
                            count));
        }
        return ahead;
    }

    /** Returns what the last {@link #look} has returned. */
    long ahead() {
        return ahead;
    }

    /** Returns how often the time of day was moved. */
    public long count() {
        return count;
    }
}
