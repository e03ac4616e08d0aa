package io.farheap.bench.reclaim;

import io.farheap.migration.MigrationResult;

/**
 * A server that left a cache, from SIGTERM on. Times are {@code nanoTime}, and 0 for what did not come about.
 *
 * @param signalled SIGTERM was sent
 * @param alerted the cache heard of it
 * @param connected the cache knows the server to which its regions go: the first move begins
 * @param left the last region was released, and the lease given back
 * @param ended the server's process had ended
 * @param moved what has moved
 * @param stayed regions that were still on the server at {@code left}
 * @param killed whether it had to be, at the end of its notice
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

    /** From the signal to the alert. */
    double noticeMillis() {
        return millis(signalled, alerted);
    }

    /** From the alert until the first region's move begins. */
    double alertMillis() {
        return millis(alerted, connected);
    }

    /** Of all regions: their rooms, their bytes, what was freed. */
    double moveMillis() {
        return moved.totalNanos() / 1e6;
    }

    /** Of their bytes alone. */
    double copyMillis() {
        return moved.copyNanos() / 1e6;
    }

    /** What else there was until the lease was given back. */
    double releaseMillis() {
        return millis(connected, left) - moveMillis();
    }

    /** From then until the process has ended. */
    double endMillis() {
        return millis(left, ended);
    }

    /** From the signal until the lease was given back. */
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
