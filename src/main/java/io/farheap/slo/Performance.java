package io.farheap.slo;

/**
 * The performance of a configuration, measured or predicted, under one mix of reads and writes. For an operation that
 * the mix does not contain both figures are 0.
 *
 * @param readLatencyNanos average, from issue to completion
 * @param readsPerSecond of all client threads together
 * @param writeLatencyNanos as of reads
 * @param writesPerSecond as of reads
 */
public record Performance(
        double readLatencyNanos, double readsPerSecond, double writeLatencyNanos, double writesPerSecond) {

    public Performance {
        check("read", readLatencyNanos, readsPerSecond);
        check("write", writeLatencyNanos, writesPerSecond);
        if (readsPerSecond == 0 && writesPerSecond == 0) {
            throw new IllegalArgumentException(
                    "a performance of no operations per second; measure until some have completed");
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

    /** The higher latencies and the lower throughputs of two performances. */
    Performance worst(Performance other) {
        return new Performance(
                Math.max(readLatencyNanos, other.readLatencyNanos),
                Math.min(readsPerSecond, other.readsPerSecond),
                Math.max(writeLatencyNanos, other.writeLatencyNanos),
                Math.min(writesPerSecond, other.writesPerSecond));
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
