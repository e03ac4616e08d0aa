package io.farheap.slo;

/**
 * Whether a larger value of one parameter was worth it. A difference below the tolerance is none: it may be the
 * measurement's.
 */
final class MarginalGain {

    /** Part of what a model file means: changing it needs a new version of {@link ModelFormat}. */
    static final double TOLERANCE = 0.02;

    private MarginalGain() {}

    /** Redy, section 4.3, "Fully-loaded Queue Pairs": what a queue depth must do to become the lower bound. */
    static boolean improvesBoth(Performance before, Performance after) {
        return moreThroughput(before, after) && lessLatency(before, after);
    }

    /** Redy, section 5.2, "Early termination": throughput no longer grows, and latency does not fall. */
    static boolean ends(Performance before, Performance after) {
        return !moreThroughput(before, after) && !lessLatency(before, after);
    }

    /**
     * What is beyond the end of a line, estimated: throughput stays, so what is more in flight waits (Little's law).
     *
     * @param increase by which factor more is in flight
     */
    static Performance beyond(Performance last, double increase) {
        return new Performance(
                last.readLatencyNanos() * increase,
                last.readsPerSecond(),
                last.writeLatencyNanos() * increase,
                last.writesPerSecond());
    }

    private static boolean moreThroughput(Performance before, Performance after) {
        return after.throughput() > before.throughput() * (1 + TOLERANCE);
    }

    private static boolean lessLatency(Performance before, Performance after) {
        return after.latencyNanos() < before.latencyNanos() * (1 - TOLERANCE);
    }
}
