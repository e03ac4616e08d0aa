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
        return after.throughput() > before.throughput() * (1 + TOLERANCE)
                && after.latencyNanos() < before.latencyNanos() * (1 - TOLERANCE);
    }

    /**
     * Redy, section 5.2, "Early termination": throughput no longer grows, and latency does not fall. If the figures of
     * one of the two have not settled, the gain has to stay within the tolerance even if it is greater than measured by
     * all that both are uncertain, since otherwise chance would leave out all points beyond.
     */
    static boolean ends(Performance before, Performance after) {
        double doubt = before.settled() && after.settled() ? 0 : before.uncertainty() + after.uncertainty();
        return after.throughput() <= before.throughput() * (1 + TOLERANCE - doubt)
                && after.latencyNanos() >= before.latencyNanos() * (1 - TOLERANCE + doubt);
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
                last.writesPerSecond(),
                last.uncertainty());
    }
}
