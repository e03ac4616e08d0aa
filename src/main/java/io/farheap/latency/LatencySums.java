package io.farheap.latency;

/**
 * The sums of sessions' requests and latencies since the sessions were opened; the difference of two sums is what was
 * done between them. They are estimates if only a sample of requests is timed.
 *
 * @param readNanos the sum of the latencies of all {@code reads}, in ns
 * @param writeNanos the sum of the latencies of all {@code writes}, in ns
 */
public record LatencySums(long reads, long readNanos, long writes, long writeNanos) {

    /** No requests. */
    public static final LatencySums NONE = new LatencySums(0, 0, 0, 0);

    /** The sums of both. */
    public LatencySums plus(LatencySums other) {
        return new LatencySums(
                reads + other.reads, readNanos + other.readNanos, writes + other.writes, writeNanos + other.writeNanos);
    }

    /** The requests since an earlier reading of the same sums. */
    public LatencySums minus(LatencySums earlier) {
        return new LatencySums(
                reads - earlier.reads,
                readNanos - earlier.readNanos,
                writes - earlier.writes,
                writeNanos - earlier.writeNanos);
    }

    /** The average latency of reads in ns; 0 if there were none. */
    public double readLatencyNanos() {
        return reads == 0 ? 0 : (double) readNanos / reads;
    }

    /** The average latency of writes in ns; 0 if there were none. */
    public double writeLatencyNanos() {
        return writes == 0 ? 0 : (double) writeNanos / writes;
    }
}
