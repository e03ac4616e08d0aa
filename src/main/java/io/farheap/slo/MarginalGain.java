package io.farheap.slo;

/**
 * Whether a larger value of one parameter improved the performance. A difference below the tolerance does not count,
 * since it may be noise of the measurement.
 */
final class MarginalGain {

    /** Part of the meaning of a model file: if it changes, {@link ModelFormat} needs a new version. */
    static final double TOLERANCE = 0.02;

    private MarginalGain() {}

    /** Redy, section 4.3, "Fully-loaded Queue Pairs": the condition for a queue depth to become the lower bound. */
    static boolean improvesBoth(Performance before, Performance after) {
        return moreThroughput(before, after) && lessLatency(before, after);
    }

    /** Redy, section 5.2, "Early termination": throughput no longer grows, and latency does not fall. */
    static boolean ends(Performance before, Performance after) {
        return !moreThroughput(before, after) && !lessLatency(before, after);
    }

    /**
     * Estimates the performance of a point beyond the end of a line: throughput stays the same, so the additional
     * requests in flight wait (Little's law).
     *
     * @param increase the factor by which the number of requests in flight grows
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
