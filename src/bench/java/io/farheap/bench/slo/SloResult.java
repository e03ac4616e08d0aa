package io.farheap.bench.slo;

import io.farheap.slo.Objective;
import io.farheap.slo.Performance;

/**
 * The real performance of the configuration that was chosen for an objective.
 *
 * @param measured the figures of this configuration; objectives for which the same one was chosen share them
 */
public record SloResult(SloChoice choice, MeasuredConfiguration measured) {

    /** Returns the medians. */
    public Performance real() {
        return measured.real();
    }

    /** Returns the median of a cache line's round trip between cores beside the measurements, in ns. */
    public double coresNanos() {
        return measured.coresNanos();
    }

    public boolean latencyMet() {
        return real().readLatencyNanos() <= reads().latencyNanos()
                && real().writeLatencyNanos() <= writes().latencyNanos();
    }

    public boolean throughputMet() {
        return real().readsPerSecond() >= reads().perSecond() && real().writesPerSecond() >= writes().perSecond();
    }

    public boolean met() {
        return latencyMet() && throughputMet();
    }

    private Objective reads() {
        return choice.slo().reads();
    }

    private Objective writes() {
        return choice.slo().writes();
    }

    private Performance predicted() {
        return choice.chosen().predicted();
    }

    /**
     * Returns the error of the prediction as a share of the real latency: that of reads or of writes, whichever is
     * greater.
     */
    public double latencyError() {
        return Math.max(
                error(predicted().readLatencyNanos(), real().readLatencyNanos()),
                error(predicted().writeLatencyNanos(), real().writeLatencyNanos()));
    }

    /** As {@link #latencyError}, for throughput. */
    public double throughputError() {
        return Math.max(
                error(predicted().readsPerSecond(), real().readsPerSecond()),
                error(predicted().writesPerSecond(), real().writesPerSecond()));
    }

    private static double error(double predicted, double real) {
        return real == 0 ? 0 : Math.abs(predicted - real) / real;
    }

    /** Returns the bound on average latency over the mix of reads and writes, in ns. */
    public double askedLatencyNanos() {
        double reads = predicted().readsPerSecond();
        double writes = predicted().writesPerSecond();
        return ((reads > 0 ? reads().latencyNanos() * reads : 0) + (writes > 0 ? writes().latencyNanos() * writes : 0))
                / (reads + writes);
    }

    public double askedPerSecond() {
        return reads().perSecond() + writes().perSecond();
    }
}
