package io.farheap.cache.contract;

import io.farheap.slo.Objective;
import io.farheap.slo.Slo;

/**
 * A cache's performance over a period, compared with its objective. A throughput that is too low is a miss only if the
 * application asked for more: if, on average, its sessions kept nearly as many requests in flight as the configuration
 * has room for (by Little's law).
 *
 * @param slo the objective
 * @param readLatencyNanos average from issue to callback, 0 if there were no reads
 * @param readsPerSecond of all sessions together
 * @param writeLatencyNanos as {@code readLatencyNanos}, of writes
 * @param writesPerSecond of all sessions together
 * @param inFlight requests between issue and callback, on average
 * @param loaded whether that was nearly as many as {@code c * b * q}
 * @param latencyMet whether the latencies of the operations that there were are within their bounds
 * @param throughputMet whether both throughputs reach their bounds
 */
public record SloReport(
        Slo slo,
        double readLatencyNanos,
        double readsPerSecond,
        double writeLatencyNanos,
        double writesPerSecond,
        double inFlight,
        boolean loaded,
        boolean latencyMet,
        boolean throughputMet) {

    /** Whether the objective was missed. */
    public boolean missed() {
        return !latencyMet || loaded && !throughputMet;
    }

    @Override
    public String toString() {
        return (missed() ? "missed: " : "met: ") + "reads " + Objective.text(readLatencyNanos, readsPerSecond)
                + ", writes " + Objective.text(writeLatencyNanos, writesPerSecond) + " with " + Math.round(inFlight)
                + " in flight; asked: " + slo;
    }
}
