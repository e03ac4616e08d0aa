package io.farheap.cache.contract;

import io.farheap.procedure.CallStatus;

/**
 * Counts of the calls that a cache's sessions in this process have made, since the cache was opened.
 *
 * @param byStatus calls that have ended, by {@link CallStatus}
 * @param movedOn how often a call continued at another server
 * @param held how often a call waited for a region that was moving
 * @param here how often a call ran in this process, since the server does not run it
 * @param timed calls that were timed: about one in 64, chosen at random
 * @param timedNanos the sum of the timed calls' latencies from issue to callback
 */
public record CallCounts(long[] byStatus, long movedOn, long held, long here, long timed, long timedNanos) {

    /** Calls that have ended with a status. */
    public long ended(int status) {
        return status >= 0 && status < byStatus.length ? byStatus[status] : 0;
    }

    /** Calls that have ended. */
    public long ended() {
        long all = 0;
        for (long count : byStatus) {
            all += count;
        }
        return all;
    }

    /** Average latency of the timed calls, in ns; not a number if none was timed. */
    public double latencyNanos() {
        return timed == 0 ? Double.NaN : (double) timedNanos / timed;
    }
}
