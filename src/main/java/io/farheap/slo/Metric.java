package io.farheap.slo;

/** The figures of a {@link Performance}, as indexes: a model keeps them in arrays. */
final class Metric {

    static final int READ_LATENCY = 0;
    static final int READS = 1;
    static final int WRITE_LATENCY = 2;
    static final int WRITES = 3;
    static final int COUNT = 4;

    private Metric() {}

    /** Latencies are bounded from above, throughputs from below. */
    static boolean isLatency(int metric) {
        return metric == READ_LATENCY || metric == WRITE_LATENCY;
    }

    /** Whether {@code value} meets {@code limit}; false if it is not a number. */
    static boolean meets(int metric, double value, double limit) {
        return isLatency(metric) ? value <= limit : value >= limit;
    }
}
