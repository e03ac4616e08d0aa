package io.farheap.latency;

/**
 * What sessions have done since they were opened: sums, of which two differ by what was done between them. They are
 * estimates where a sample is timed.
 *
 * @param readNanos latencies of all {@code reads} together
 * @param writeNanos latencies of all {@code writes} together
 */
public record LatencySums(long reads, long readNanos, long writes, long writeNanos) {

    public static final LatencySums NONE = new LatencySums(0, 0, 0, 0);

    public LatencySums plus(LatencySums other) {
        return new LatencySums(
                reads + other.reads, readNanos + other.readNanos, writes + other.writes, writeNanos + other.writeNanos);
    }

    public LatencySums minus(LatencySums earlier) {
        return new LatencySums(
                reads - earlier.reads,
                readNanos - earlier.readNanos,
                writes - earlier.writes,
                writeNanos - earlier.writeNanos);
    }

    /** Average latency in ns; 0 where there were none. */
    public double readLatencyNanos() {
        return reads == 0 ? 0 : (double) readNanos / reads;
    }

    /** As {@link #readLatencyNanos}. */
    public double writeLatencyNanos() {
        return writes == 0 ? 0 : (double) writeNanos / writes;
    }
}
