package io.farheap.slo;

/**
 * A service-level objective: bounds that reads and writes must meet at the same time, under the mix of a model's
 * workload.
 */
public record Slo(Objective reads, Objective writes) {

    /** The bound of a {@link Metric}. */
    double limit(int metric) {
        return switch (metric) {
            case Metric.READ_LATENCY -> reads.latencyNanos();
            case Metric.READS -> reads.perSecond();
            case Metric.WRITE_LATENCY -> writes.latencyNanos();
            default -> writes.perSecond();
        };
    }

    boolean metBy(double readLatency, double reads, double writeLatency, double writes) {
        return readLatency <= this.reads.latencyNanos()
                && reads >= this.reads.perSecond()
                && writeLatency <= this.writes.latencyNanos()
                && writes >= this.writes.perSecond();
    }

    /** Whether a performance meets all bounds, without a margin: a figure that equals its bound does. */
    public boolean metBy(Performance performance) {
        return metBy(
                performance.readLatencyNanos(),
                performance.readsPerSecond(),
                performance.writeLatencyNanos(),
                performance.writesPerSecond());
    }

    /**
     * A tighter objective, for predictions that may be wrong: latencies are divided and throughputs multiplied by
     * {@code 1 + margin}.
     *
     * @throws IllegalArgumentException if the margin is negative or not a number
     */
    public Slo withMargin(double margin) {
        if (!(margin >= 0)) {
            throw new IllegalArgumentException("a margin of " + margin + "; it is at least 0, such as 0.1 for a tenth");
        }
        return new Slo(tightened(reads, margin), tightened(writes, margin));
    }

    private static Objective tightened(Objective objective, double margin) {
        return new Objective(objective.latencyNanos() / (1 + margin), objective.perSecond() * (1 + margin));
    }

    /** A looser objective: latencies are multiplied and throughputs divided by these factors, each at least 1. */
    Slo relaxed(double latency, double throughput) {
        return new Slo(relaxed(reads, latency, throughput), relaxed(writes, latency, throughput));
    }

    private static Objective relaxed(Objective objective, double latency, double throughput) {
        return new Objective(objective.latencyNanos() * latency, objective.perSecond() / throughput);
    }

    /** The largest factor by which a performance misses one of the latencies; at most 1 if it meets all. */
    double latencyMiss(Performance performance) {
        return Math.max(
                performance.readLatencyNanos() / reads.latencyNanos(),
                performance.writeLatencyNanos() / writes.latencyNanos());
    }

    /** The largest factor by which a performance misses one of the throughputs; at most 1 if it meets all. */
    double throughputMiss(Performance performance) {
        return Math.max(miss(reads, performance.readsPerSecond()), miss(writes, performance.writesPerSecond()));
    }

    private static double miss(Objective objective, double perSecond) {
        return objective.perSecond() == 0 ? 0 : objective.perSecond() / perSecond;
    }

    @Override
    public String toString() {
        return "reads " + reads + ", writes " + writes;
    }
}
