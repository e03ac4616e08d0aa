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

/** Compares, period by period and on a thread of its own, what a cache does with its objective. Thread-safe. */
public final class SloWatch implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SloWatch.class.getName());

    /** Of the room that a configuration has: with so much in flight a throughput that is too low is a miss. */
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
     * @param period of which averages are taken
     * @param listener told after each, or null
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
     * @param tuning null where it has no objective
     * @return null then
     */
    public static @Nullable SloWatch of(String name, @Nullable Tuning tuning, LatencyTracker latency) {
        return tuning == null ? null : new SloWatch(name, latency, tuning.why(), tuning.period(), tuning.listener());
    }

    public Explanation explanation() {
        return why;
    }

    /** The cache runs with another configuration from now on; a period that has begun is not compared with anything. */
    public void changed(Explanation now) {
        why = now;
        miss = null;
    }

    public Optional<SloReport> last() {
        return Optional.ofNullable(last);
    }

    /**
     * By which share predictions were better than what the cache did when it last missed its objective with its
     * configuration; 0 where it has not.
     */
    public double shortfall() {
        SloReport report = miss;
        return report == null ? 0 : shortfall(report, why.chosen().predicted());
    }

    /** Periods in which the objective was missed. */
    public long missed() {
        return missed;
    }

    /** An explanation is compared by identity: another that says the same is another. */
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
     * @param configuration with which the cache ran
     * @param done meanwhile
     * @param nanos how long that was, above 0
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
     * By which share a prediction was better than a report, in the figure where it was so the most; 0 where in none. A
     * throughput that nobody asked for does not count.
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
