package io.farheap.cache;

import io.farheap.latency.LatencySums;
import io.farheap.latency.LatencyTracker;
import io.farheap.slo.Explanation;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Compares, period by period and on a thread of its own, what a cache does with its objective. Thread-safe. */
final class SloWatch implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(SloWatch.class.getName());

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
    SloWatch(String name, LatencyTracker latency, Explanation why, Duration period, @Nullable Consumer<SloReport> listener) {
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
    static @Nullable SloWatch of(String name, @Nullable Tuning tuning, LatencyTracker latency) {
        return tuning == null
                ? null
                : new SloWatch(name, latency, tuning.why(), tuning.period(), tuning.listener());
    }

    Explanation explanation() {
        return why;
    }

    /** The cache runs with another configuration from now on; a period that has begun is not compared with anything. */
    void changed(Explanation now) {
        why = now;
        miss = null;
    }

    Optional<SloReport> last() {
        return Optional.ofNullable(last);
    }

    /**
     * By which share predictions were better than what the cache did when it last missed its objective with its
     * configuration; 0 where it has not.
     */
    double shortfall() {
        SloReport report = miss;
        return report == null ? 0 : report.shortfall(why.chosen().predicted());
    }

    /** Periods in which the objective was missed. */
    long missed() {
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
        SloReport report = SloReport.of(with.slo(), with.chosen().configuration(), done, nanos);
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

    @Override
    public void close() {
        stopped = true;
        LockSupport.unpark(thread);
    }
}
