package io.farheap.slo;

/**
 * The performance of a configuration, measured or predicted, under one mix of reads and writes. For an operation that
 * the mix does not contain both figures are 0.
 *
 * @param readLatencyNanos average, from issue to completion
 * @param readsPerSecond of all client threads together
 * @param writeLatencyNanos as of reads
 * @param writesPerSecond as of reads
 * @param uncertainty of the least certain figure, as a part of it: half the width of its 95% confidence interval. 0 if
 *     the figures are exact or predicted, infinite if too little was measured to know
 */
public record Performance(
        double readLatencyNanos,
        double readsPerSecond,
        double writeLatencyNanos,
        double writesPerSecond,
        double uncertainty) {

    /** A measurement whose figures are known to this part of themselves, or better, has settled. */
    public static final double SETTLED = 0.02;

    /** A performance with exact or predicted figures. */
    public Performance(
            double readLatencyNanos, double readsPerSecond, double writeLatencyNanos, double writesPerSecond) {
        this(readLatencyNanos, readsPerSecond, writeLatencyNanos, writesPerSecond, 0);
    }

    public Performance {
        check("read", readLatencyNanos, readsPerSecond);
        check("write", writeLatencyNanos, writesPerSecond);
        if (readsPerSecond == 0 && writesPerSecond == 0) {
            throw new IllegalArgumentException(
                    "a performance of no operations per second; measure until some have completed");
        }
        if (!(uncertainty >= 0)) {
            throw new IllegalArgumentException("an uncertainty of " + uncertainty + "; it is 0 or more");
        }
    }

    private static void check(String operation, double nanos, double perSecond) {
        boolean none = nanos == 0 && perSecond == 0;
        if (!none && !(nanos > 0 && perSecond > 0 && nanos <= Double.MAX_VALUE && perSecond <= Double.MAX_VALUE)) {
            throw new IllegalArgumentException("a " + operation + " latency of " + nanos + " ns at " + perSecond
                    + " per second; both are positive and finite, or both 0 if there are no " + operation + "s");
        }
    }

    /** Reads and writes per second together. */
    public double throughput() {
        return readsPerSecond + writesPerSecond;
    }

    /** Average over reads and writes, in ns. */
    public double latencyNanos() {
        return (readLatencyNanos * readsPerSecond + writeLatencyNanos * writesPerSecond) / throughput();
    }

    /** Whether the figures are known well enough to be compared with others. */
    public boolean settled() {
        return settled(uncertainty);
    }

    static boolean settled(double uncertainty) {
        return uncertainty <= SETTLED;
    }

    /** The higher latencies, the lower throughputs and the greater uncertainty of two performances. */
    Performance worst(Performance other) {
        return new Performance(
                Math.max(readLatencyNanos, other.readLatencyNanos),
                Math.min(readsPerSecond, other.readsPerSecond),
                Math.max(writeLatencyNanos, other.writeLatencyNanos),
                Math.min(writesPerSecond, other.writesPerSecond),
                Math.max(uncertainty, other.uncertainty));
    }

    double get(int metric) {
        return switch (metric) {
            case Metric.READ_LATENCY -> readLatencyNanos;
            case Metric.READS -> readsPerSecond;
            case Metric.WRITE_LATENCY -> writeLatencyNanos;
            default -> writesPerSecond;
        };
    }

    @Override
    public String toString() {
        return "reads " + Objective.text(readLatencyNanos, readsPerSecond) + ", writes "
                + Objective.text(writeLatencyNanos, writesPerSecond);
    }
}
