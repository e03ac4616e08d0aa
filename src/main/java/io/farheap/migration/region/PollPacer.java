package io.farheap.migration.region;

import java.util.concurrent.locks.LockSupport;

/**
 * Decides when to look at a copy again: often enough that writers hardly wait, and rarely enough that looking takes a
 * small part of a core, which the copier or the writers may need. One thread.
 */
final class PollPacer {

    /**
     * Least time between looks: waking and sleeping cost more of a core than the look between them, and are not in the
     * measured time.
     */
    private static final long LEAST_NANOS = 100_000;

    private static final long MOST_NANOS = 200_000;
    /** Ratio of a sleep to the time that a look takes. */
    private static final int SHARE = 12;

    private static final int AVERAGED = 8;

    private final long leastNanos;
    private long wokeAt = System.nanoTime();
    private long lookNanos;

    /** @param often whether writers wait for single looks */
    PollPacer(boolean often) {
        leastNanos = often ? LEAST_NANOS : MOST_NANOS;
    }

    /** Sleeps until the next look. */
    void sleep() {
        // An average in which a look that was preempted counts little.
        long took = Math.min(System.nanoTime() - wokeAt, 2 * lookNanos + LEAST_NANOS / SHARE);
        lookNanos += (took - lookNanos) / AVERAGED;
        LockSupport.parkNanos(Math.clamp(SHARE * lookNanos, leastNanos, MOST_NANOS));
        wokeAt = System.nanoTime();
    }
}
