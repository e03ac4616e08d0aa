package io.farheap.slo;

/** Which bounds of an objective give way if not all of them can be met. */
public enum Relaxation {
    LATENCY,
    THROUGHPUT,
    BOTH;

    Slo apply(Slo slo, double factor) {
        return slo.relaxed(this == THROUGHPUT ? 1 : factor, this == LATENCY ? 1 : factor);
    }

    /** The factor with which {@link #apply} makes this performance meet the bounds that give way. */
    double miss(Slo slo, Performance performance) {
        return switch (this) {
            case LATENCY -> slo.latencyMiss(performance);
            case THROUGHPUT -> slo.throughputMiss(performance);
            case BOTH -> Math.max(slo.latencyMiss(performance), slo.throughputMiss(performance));
        };
    }
}
