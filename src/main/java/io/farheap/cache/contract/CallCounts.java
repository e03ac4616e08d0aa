package io.farheap.cache.contract;

import io.farheap.procedure.CallStatus;

/**
 * What became of the calls of a cache's sessions in this process, since the cache was opened.
 *
 * @param byStatus calls that have ended, by {@link CallStatus}
 * @param movedOn how often a call went on at another server
 * @param held how often one waited for a region that moved
 * @param here how often one ran in this process, since no server runs it
 * @param timed a random one of about 64
 * @param timedNanos from issue to callback, of those that were timed
 */
public record CallCounts(long[] byStatus, long movedOn, long held, long here, long timed, long timedNanos) {

    /** Calls that have ended so. */
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

    /** Average latency, in ns; not a number where none was timed. */
    public double latencyNanos() {
        return timed == 0 ? Double.NaN : (double) timedNanos / timed;
    }
}
