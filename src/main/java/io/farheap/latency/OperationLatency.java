package io.farheap.latency;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * Latencies of one session's reads and writes, in ns. The session's thread asks which requests to time and records,
 * without allocating or waiting; any other thread takes intervals.
 */
public final class OperationLatency {

    /** Three significant digits: an error below 0.1%. */
    public static final int SIGNIFICANT_DIGITS = 3;

    /**
     * A recorder grows, and allocates, when it records a value larger than any before. The constructor records this
     * value first, so that the data path does not allocate.
     */
    private static final long LARGEST_EXPECTED_NANOS = 3_600_000_000_000L;

    /** Requests that take longer than this are all timed: the clock costs them little. */
    private static final long SAMPLED_BELOW_NANOS = 1_000;

    private static final int SAMPLE = 64;

    private static final VarHandle READ_COUNT = handle("readCount");
    private static final VarHandle READ_NANOS = handle("readNanos");
    private static final VarHandle WRITE_COUNT = handle("writeCount");
    private static final VarHandle WRITE_NANOS = handle("writeNanos");

    private static VarHandle handle(String field) {
        try {
            return MethodHandles.lookup().findVarHandle(OperationLatency.class, field, long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SingleWriterRecorder reads = new SingleWriterRecorder(SIGNIFICANT_DIGITS);
    private final SingleWriterRecorder writes = new SingleWriterRecorder(SIGNIFICANT_DIGITS);
    /** After a request that took less than this, only a sample of requests is timed. */
    private final long sampledBelow;

    private int skipped;
    private int weight;
    private long random;
    /** Written by the session's thread alone, read by any. */
    private long readCount;

    private long readNanos;
    private long writeCount;
    private long writeNanos;

    /** @param tracking not {@link LatencyTracking#NONE} */
    OperationLatency(LatencyTracking tracking, long seed) {
        this.sampledBelow = switch (tracking) {
            case SAMPLED -> SAMPLED_BELOW_NANOS;
            case SPARSE -> Long.MAX_VALUE;
            case EVERY, NONE -> 0;
        };
        this.weight = tracking == LatencyTracking.SPARSE ? SAMPLE : 1;
        this.random = seed | 1;
        for (int i = 0; i < 2; i++) {
            reads.recordValue(LARGEST_EXPECTED_NANOS);
            writes.recordValue(LARGEST_EXPECTED_NANOS);
            // A recorder alternates between two histograms; each has to grow.
            reads.reset();
            writes.reset();
        }
    }

    /**
     * Says whether to time a request. Called once for each request, as it is issued.
     *
     * @return 0 if the request is not timed; otherwise how many requests it stands for, to be passed to {@link #read}
     *     or {@link #write}
     */
    public int due() {
        return --skipped < 0 ? choose() : 0;
    }

    /** As {@link #due()} for so many requests that are issued, and end, together. */
    public int due(int requests) {
        int left = requests;
        int standsFor = 0;
        while (left > skipped) {
            left -= skipped + 1;
            standsFor += choose();
        }
        skipped -= left;
        return standsFor;
    }

    /**
     * Records the latency of a read, for as many requests as {@link #due} returned. A latency above an hour counts as
     * an hour.
     */
    public void read(long nanos, int requests) {
        long value = record(reads, nanos, requests);
        READ_NANOS.setOpaque(this, readNanos + value * requests);
        READ_COUNT.setOpaque(this, readCount + requests);
    }

    /** As {@link #read}, for a write. */
    public void write(long nanos, int requests) {
        long value = record(writes, nanos, requests);
        WRITE_NANOS.setOpaque(this, writeNanos + value * requests);
        WRITE_COUNT.setOpaque(this, writeCount + requests);
    }

    private long record(SingleWriterRecorder recorder, long nanos, int requests) {
        long value = Math.clamp(nanos, 0, LARGEST_EXPECTED_NANOS);
        recorder.recordValueWithCount(value, requests);
        weight = value < sampledBelow ? SAMPLE : 1;
        return value;
    }

    /** The sums of all that was recorded. A part of a request that is being recorded may be missing. Any thread. */
    LatencySums sums() {
        return new LatencySums(
                (long) READ_COUNT.getOpaque(this),
                (long) READ_NANOS.getOpaque(this),
                (long) WRITE_COUNT.getOpaque(this),
                (long) WRITE_NANOS.getOpaque(this));
    }

    /**
     * Chooses this request to be timed, and the gap to the next one. It stands for as many requests as there are per
     * timed one on average; the gap is random, so that no rhythm of requests biases the sample.
     */
    private int choose() {
        if (weight == 1) {
            skipped = 0;
            return 1;
        }
        random ^= random << 13;
        random ^= random >>> 7;
        random ^= random << 17;
        // 0 to 2 * (SAMPLE - 1), so SAMPLE - 1 on average.
        skipped = (int) ((random >>> 32) * (2 * SAMPLE - 1) >>> 32);
        return SAMPLE;
    }

    /** Adds the recordings since the last call to histograms, and clears them. One thread at a time. */
    synchronized void drainInto(Histogram readTotal, Histogram writeTotal) {
        readTotal.add(reads.getIntervalHistogram());
        writeTotal.add(writes.getIntervalHistogram());
    }
}
