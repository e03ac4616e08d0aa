package io.farheap.cache;

import io.farheap.latency.LatencySums;
import io.farheap.slo.Configuration;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.Slo;

/**
 * What a cache did over a span of time, beside its objective. A throughput that is too low is a miss only where the
 * application asked for more: where, on average, its sessions kept nearly as many requests in flight as the
 * configuration has room for (by Little's law).
 *
 * @param slo what was asked for
 * @param readLatencyNanos average from issue to callback, 0 where there were no reads
 * @param readsPerSecond of all sessions together
 * @param inFlight requests between issue and callback, on average
 * @param loaded whether that was nearly as many as {@code c * b * q}
 * @param latencyMet whether the latencies of those operations that there were are within their bounds
 * @param throughputMet whether both throughputs reach theirs
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

    private static final double LOADED = 0.9;

    /**
     * @param configuration with which the cache ran
     * @param done meanwhile
     * @param nanos how long that was, above 0
     */
    static SloReport of(Slo slo, Configuration configuration, LatencySums done, long nanos) {
        double reads = done.reads() * 1e9 / nanos;
        double writes = done.writes() * 1e9 / nanos;
        double inFlight = (double) (done.readNanos() + done.writeNanos()) / nanos;
        double room = (double) configuration.clientThreads() * configuration.batchSize() * configuration.queueDepth();
        return new SloReport(
                slo,
                done.readLatencyNanos(),
                reads,
                done.writeLatencyNanos(),
                writes,
                inFlight,
                inFlight >= LOADED * room,
                within(slo.reads(), done.readLatencyNanos()) && within(slo.writes(), done.writeLatencyNanos()),
                reads >= slo.reads().perSecond() && writes >= slo.writes().perSecond());
    }

    private static boolean within(Objective objective, double nanos) {
        return nanos <= objective.latencyNanos();
    }

    public boolean missed() {
        return !latencyMet || loaded && !throughputMet;
    }

    /**
     * By which share a prediction was better than this, in the figure where it was so the most; 0 where in none. A
     * throughput that nobody asked for does not count.
     */
    double shortfall(Performance predicted) {
        double latency = Math.max(
                ratio(readLatencyNanos, predicted.readLatencyNanos()),
                ratio(writeLatencyNanos, predicted.writeLatencyNanos()));
        double throughput = loaded
                ? Math.max(
                        ratio(predicted.readsPerSecond(), readsPerSecond),
                        ratio(predicted.writesPerSecond(), writesPerSecond))
                : 1;
        return Math.max(0, Math.max(latency, throughput) - 1);
    }

    private static double ratio(double larger, double smaller) {
        return larger > 0 && smaller > 0 ? larger / smaller : 1;
    }

    @Override
    public String toString() {
        return (missed() ? "missed: " : "met: ") + "reads " + Objective.text(readLatencyNanos, readsPerSecond)
                + ", writes " + Objective.text(writeLatencyNanos, writesPerSecond) + " with " + Math.round(inFlight)
                + " in flight; asked: " + slo;
    }
}
