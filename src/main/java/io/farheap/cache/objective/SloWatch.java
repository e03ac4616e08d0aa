package io.farheap.cache.objective;

import io.farheap.cache.contract.SloReport;
import io.farheap.latency.LatencySums;
import io.farheap.latency.LatencyTracker;
import io.farheap.slo.Configuration;
import io.farheap.slo.Explanation;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.Slo;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Compares a cache's performance with its objective, period by period, on a thread of its own. Thread-safe. */
public final class SloWatch implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SloWatch.class.getName());

    /**
     * The share of a configuration's room for requests: with that much in flight on average, a throughput that is too
     * low is a miss.
     */
    private static final double LOADED = 0.9;

    private final String name;
    private final LatencyTracker latency;
    private final long periodNanos;
    private final @Nullable Consumer<SloReport> listener;
    private final Thread thread;
    private volatile Explanation why;
    private volatile @Nullable SloReport last;
    /** The last miss of the present configuration, or null. */
    private volatile @Nullable SloReport miss;
    /** Written by the watch's thread alone. */
    private volatile long missed;

    private volatile boolean stopped;

    /**
     * @param name the cache's
     * @param period over which averages are taken
     * @param listener receives the report of each period, or null
     */
    SloWatch(
            String name,
            LatencyTracker latency,
            Explanation why,
            Duration period,
            @Nullable Consumer<SloReport> listener) {
        this.name = name;
        this.latency = latency;
        this.why = why;
        this.periodNanos = TimeUnit.NANOSECONDS.convert(period);
        this.listener = listener;
        thread = new Thread(this::run, name + "-slo");
        thread.setDaemon(true);
        thread.start();
    }

    /**
     * @param name the cache's
     * @param tuning null if it has no objective
     * @return null if it has no objective
     */
    public static @Nullable SloWatch of(String name, @Nullable Tuning tuning, LatencyTracker latency) {
        return tuning == null ? null : new SloWatch(name, latency, tuning.why(), tuning.period(), tuning.listener());
    }

    public Explanation explanation() {
        return why;
    }

    /** The cache runs with another configuration from now on; the period that has begun is not compared. */
    public void changed(Explanation now) {
        why = now;
        miss = null;
    }

    public Optional<SloReport> last() {
        return Optional.ofNullable(last);
    }

    /**
     * The share by which the prediction was better than the cache's performance when it last missed its objective with
     * this configuration; 0 if it has not missed it.
     */
    public double shortfall() {
        SloReport report = miss;
        return report == null ? 0 : shortfall(report, why.chosen().predicted());
    }

    /** Periods in which the objective was missed. */
    public long missed() {
        return missed;
    }

    /** Explanations are compared by identity: a new one with the same content is a change too. */
    @SuppressWarnings("ReferenceEquality")
    private void run() {
        LatencySums before = latency.sums();
        long from = System.nanoTime();
        while (!stopped) {
            Explanation beginning = why;
            awaitUntil(from + periodNanos);
            LatencySums sums = latency.sums();
            long now = System.nanoTime();
            if (!stopped && beginning == why) {
                compare(beginning, sums.minus(before), now - from);
            }
            before = sums;
            from = now;
        }
    }

    private void awaitUntil(long time) {
        for (long left = time - System.nanoTime(); left > 0 && !stopped; left = time - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
        }
    }

    private void compare(Explanation with, LatencySums done, long nanos) {
        SloReport report = report(with.slo(), with.chosen().configuration(), done, nanos);
        last = report;
        if (report.missed()) {
            long seen = missed + 1;
            missed = seen;
            miss = report;
            SloMissedEvent.emit(name, with.chosen().configuration().toString(), report);
        }
        if (listener != null) {
            try {
                listener.accept(report);
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.WARNING, "cache " + name + ": the listener of its objective failed", e);
            }
        }
    }

    /**
     * Compares the performance in one period with an objective.
     *
     * @param configuration the configuration of the cache in the period
     * @param done the operations of the period
     * @param nanos the length of the period, above 0
     */
    public static SloReport report(Slo slo, Configuration configuration, LatencySums done, long nanos) {
        double reads = done.reads() * 1e9 / nanos;
        double writes = done.writes() * 1e9 / nanos;
        double inFlight = (double) (done.readNanos() + done.writeNanos()) / nanos;
        double room = (double) configuration.clientThreads() * configuration.batchSize() * configuration.queueDepth();
        return new SloReport(
                slo,
                done.readLatencyNanos(),
                reads,
                done.writeLatencyNanos(),
                writes,
                inFlight,
                inFlight >= LOADED * room,
                within(slo.reads(), done.readLatencyNanos()) && within(slo.writes(), done.writeLatencyNanos()),
                reads >= slo.reads().perSecond() && writes >= slo.writes().perSecond());
    }

    private static boolean within(Objective objective, double nanos) {
        return nanos <= objective.latencyNanos();
    }

    /**
     * The share by which a prediction was better than a report, in the figure with the greatest difference; 0 if in
     * none. Throughputs count only if the cache was {@linkplain SloReport#loaded loaded}.
     */
    public static double shortfall(SloReport report, Performance predicted) {
        double latency = Math.max(
                ratio(report.readLatencyNanos(), predicted.readLatencyNanos()),
                ratio(report.writeLatencyNanos(), predicted.writeLatencyNanos()));
        double throughput = report.loaded()
                ? Math.max(
                        ratio(predicted.readsPerSecond(), report.readsPerSecond()),
                        ratio(predicted.writesPerSecond(), report.writesPerSecond()))
                : 1;
        return Math.max(0, Math.max(latency, throughput) - 1);
    }

    private static double ratio(double larger, double smaller) {
        return larger > 0 && smaller > 0 ? larger / smaller : 1;
    }

    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
    }
}
