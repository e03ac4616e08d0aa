package io.farheap.latency;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * Latencies of one session's reads and writes, in ns. The session's thread records, without allocating or waiting; any other
 * thread takes intervals.
 */
public final class OperationLatency {

    /** Three significant digits: an error below 0.1%. */
    public static final int SIGNIFICANT_DIGITS = 3;

    private final SingleWriterRecorder reads = new SingleWriterRecorder(SIGNIFICANT_DIGITS);
    private final SingleWriterRecorder writes = new SingleWriterRecorder(SIGNIFICANT_DIGITS);

    /**
     * A recorder grows, and allocates, when it meets a value larger than any before. Meeting this one first spares the data path
     * that.
     */
    private static final long LARGEST_EXPECTED_NANOS = 3_600_000_000_000L;

    public OperationLatency() {
        for (int i = 0; i < 2; i++) {
            reads.recordValue(LARGEST_EXPECTED_NANOS);
            writes.recordValue(LARGEST_EXPECTED_NANOS);
            // Two histograms take turns; each has to grow.
            reads.reset();
            writes.reset();
        }
    }

    public void read(long nanos) {
        reads.recordValue(Math.clamp(nanos, 0, LARGEST_EXPECTED_NANOS));
    }

    public void write(long nanos) {
        writes.recordValue(Math.clamp(nanos, 0, LARGEST_EXPECTED_NANOS));
    }

    /** Adds what was recorded since the last call, and forgets it. One thread at a time. */
    synchronized void drainInto(Histogram readTotal, Histogram writeTotal) {
        readTotal.add(reads.getIntervalHistogram());
        writeTotal.add(writes.getIntervalHistogram());
    }
}
