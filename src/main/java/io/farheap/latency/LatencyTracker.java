package io.farheap.latency;

import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.jspecify.annotations.Nullable;

/**
 * The latencies of all sessions of a cache: per interval and in total, optionally written to a {@code .hlog} file
 * (HdrHistogram's log format, tags {@code read} and {@code write}, ns). Any thread may call.
 */
public final class LatencyTracker {

    private static final double LOG_UNIT_NANOS = 1.0;

    private final List<OperationLatency> sources = new CopyOnWriteArrayList<>();
    private final Histogram readTotal = new Histogram(OperationLatency.SIGNIFICANT_DIGITS);
    private final Histogram writeTotal = new Histogram(OperationLatency.SIGNIFICANT_DIGITS);
    /** The recordings of sources that were removed during the interval. */
    private final Histogram leftReads = new Histogram(OperationLatency.SIGNIFICANT_DIGITS);

    private final Histogram leftWrites = new Histogram(OperationLatency.SIGNIFICANT_DIGITS);
    private LatencySums leftSums = LatencySums.NONE;
    private long intervalStartMillis = System.currentTimeMillis();
    private @Nullable HistogramLogWriter log;

    /** A tracker without sessions, whose first interval begins now. */
    public LatencyTracker() {}

    /**
     * Makes a recorder for one more session, which times the requests that {@code tracking} selects.
     *
     * @param tracking not {@link LatencyTracking#NONE}: a session that times no requests needs no recorder
     */
    public OperationLatency newSource(LatencyTracking tracking) {
        OperationLatency source =
                new OperationLatency(tracking, ThreadLocalRandom.current().nextLong());
        sources.add(source);
        return source;
    }

    /** Removes a recorder; its recordings belong to the current interval. */
    public synchronized void remove(OperationLatency source) {
        if (sources.remove(source)) {
            source.drainInto(leftReads, leftWrites);
            leftSums = leftSums.plus(source.sums());
        }
    }

    /** The sums of all sessions since the tracker was made, including closed ones; they do not depend on intervals. */
    public synchronized LatencySums sums() {
        LatencySums sums = leftSums;
        for (OperationLatency source : sources) {
            sums = sums.plus(source.sums());
        }
        return sums;
    }

    /** Writes every interval from now on to {@code out}, which the caller closes. */
    public synchronized void logTo(PrintStream out) {
        log = new HistogramLogWriter(out);
        log.outputLogFormatVersion();
        log.outputStartTime(intervalStartMillis);
        log.outputLegend();
    }

    /**
     * Ends the interval that began with the last call, or with the tracker. The result belongs to the caller. The time
     * stamps of its histograms are milliseconds since 1970.
     */
    public synchronized LatencyInterval endInterval() {
        Histogram reads = new Histogram(OperationLatency.SIGNIFICANT_DIGITS);
        Histogram writes = new Histogram(OperationLatency.SIGNIFICANT_DIGITS);
        for (OperationLatency source : sources) {
            source.drainInto(reads, writes);
        }
        reads.add(leftReads);
        writes.add(leftWrites);
        leftReads.reset();
        leftWrites.reset();
        long now = System.currentTimeMillis();
        finish(reads, "read", now);
        finish(writes, "write", now);
        readTotal.add(reads);
        writeTotal.add(writes);
        intervalStartMillis = now;
        return new LatencyInterval(reads, writes);
    }

    /** A copy of the sum of all intervals that have ended; the present one is not in it. */
    public synchronized LatencyInterval total() {
        return new LatencyInterval(readTotal.copy(), writeTotal.copy());
    }

    private void finish(Histogram histogram, String tag, long now) {
        histogram.setTag(tag);
        histogram.setStartTimeStamp(intervalStartMillis);
        histogram.setEndTimeStamp(now);
        if (log != null) {
            log.outputIntervalHistogram(intervalStartMillis / 1000.0, now / 1000.0, histogram, LOG_UNIT_NANOS);
        }
    }
}
