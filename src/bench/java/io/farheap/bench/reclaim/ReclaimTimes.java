package io.farheap.bench.reclaim;

import io.farheap.migration.MigrationResult;

/**
 * The times of a server that left a cache, from SIGTERM on. Times are {@code nanoTime}, and 0 for an event that did not
 * happen.
 *
 * @param signalled SIGTERM was sent
 * @param alerted the cache was notified
 * @param connected the cache knows the server to which its regions go: the first move begins
 * @param left the last region was released, and the lease given back
 * @param ended the server's process had ended
 * @param moved the result of the moves
 * @param stayed regions that were still on the server at {@code left}
 * @param killed whether it had to be killed, at the end of its notice
 */
record ReclaimTimes(
        long signalled,
        long alerted,
        long connected,
        long left,
        long ended,
        MigrationResult moved,
        int stayed,
        boolean killed) {

    private static final double GIB = 1L << 30;

    /** Returns the time from the signal to the alert. */
    double noticeMillis() {
        return millis(signalled, alerted);
    }

    /** Returns the time from the alert until the first region's move begins. */
    double alertMillis() {
        return millis(alerted, connected);
    }

    /** Returns the time of all moves: allocating their regions, copying their bytes, and freeing the old ones. */
    double moveMillis() {
        return moved.totalNanos() / 1e6;
    }

    /** Returns the time of copying alone. */
    double copyMillis() {
        return moved.copyNanos() / 1e6;
    }

    /** Returns the remaining time until the lease was given back. */
    double releaseMillis() {
        return millis(connected, left) - moveMillis();
    }

    /** Returns the time from then until the process has ended. */
    double endMillis() {
        return millis(left, ended);
    }

    /** Returns the time from the signal until the lease was given back. */
    double totalMillis() {
        return millis(signalled, left);
    }

    double gibPerSecond() {
        return moved.bytes() / GIB / (totalMillis() / 1e3);
    }

    private static double millis(long from, long to) {
        return from == 0 || to == 0 ? Double.NaN : (to - from) / 1e6;
    }
}
