package io.farheap.migration.region;

import java.util.concurrent.locks.LockSupport;

/**
 * When to look at a copy again: so often that writers hardly wait, and so rarely that looking takes a small part of a
 * core, which the copier, or the writers, may need. One thread.
 */
final class PollPacer {

    /** Waking and sleeping cost more of a core than the look between them, and are not in what it took. */
    private static final long LEAST_NANOS = 100_000;

    private static final long MOST_NANOS = 200_000;
    /** Sleep for so many times as long as a look took. */
    private static final int SHARE = 12;

    private static final int AVERAGED = 8;

    private final long leastNanos;
    private long wokeAt = System.nanoTime();
    private long lookNanos;

    /** @param often whether writers wait for single looks */
    PollPacer(boolean often) {
        leastNanos = often ? LEAST_NANOS : MOST_NANOS;
    }

    /** Until the next look. */
    void sleep() {
        // An average that a look which was interrupted by others hardly moves.
        long took = Math.min(System.nanoTime() - wokeAt, 2 * lookNanos + LEAST_NANOS / SHARE);
        lookNanos += (took - lookNanos) / AVERAGED;
        LockSupport.parkNanos(Math.clamp(SHARE * lookNanos, leastNanos, MOST_NANOS));
        wokeAt = System.nanoTime();
    }
}
