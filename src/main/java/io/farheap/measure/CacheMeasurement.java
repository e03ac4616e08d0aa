package io.farheap.measure;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.latency.LatencySums;
import io.farheap.slo.Configuration;
import io.farheap.slo.ConfigurationSpace;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.thread.Cores;
import io.farheap.thread.ThreadAffinity;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures a live cache. It switches the cache to a configuration (c, s, b, q), unless it is coded, lets c
 * {@linkplain ApplicationThread application threads} keep {@code b * q} requests in flight each, and takes
 * {@link MeasurementWindows} of {@value #WINDOW_MILLIS} ms, after {@value #WARM_UP_MILLIS} ms of warm-up, until they
 * are settled, for at most {@value #MOST_MILLIS} ms; the result says how uncertain it is. Latencies are averages from
 * issue to callback, as a cache with latency tracking measures them. One thread at a time.
 */
public final class CacheMeasurement implements Measurement, AutoCloseable {

    /** Shorter than a scheduler's time slice, so that a preemption spoils some windows and not all. */
    static final int WINDOW_MILLIS = 5;

    static final int WARM_UP_MILLIS = 60;
    static final int MOST_MILLIS = 2_000;
    /** The time limit for the first window: in it a request of each kind in the mix has to complete. */
    private static final int PATIENCE_MILLIS = 30_000;

    private static final int COMPILERS_MILLIS = 1_000;
    private static final int WARM_UP_DEPTH = 4;
    private static final int WARM_UP_BATCH = 16;

    private final Cache cache;
    private final ModelSubject subject;
    private final List<Integer> cores;
    private long seed;
    private boolean warm;

    /** @param cache closed with this; it times at least a sample of requests, and has no session */
    public CacheMeasurement(Cache cache, ModelSubject subject, long seed) {
        this.cache = cache;
        this.subject = subject;
        this.seed = seed;
        this.cores = Cores.near(cache.context().device().name());
    }

    @Override
    public Performance measure(Configuration configuration) throws InterruptedException {
        return measure(configuration, () -> {});
    }

    /**
     * As {@link #measure(Configuration)}.
     *
     * @param begun runs between the warm-up and the first window, under load
     */
    Performance measure(Configuration configuration, Runnable begun) throws InterruptedException {
        if (!warm) {
            warmUp();
            warm = true;
        }
        MeasurementWindows windows = new MeasurementWindows(subject.readPercent());
        load(configuration, threads -> take(windows, threads, begun));
        return windows.medians();
    }

    /**
     * Runs load first, since the first measurements would otherwise measure the JIT compilers of this process and the
     * server's.
     */
    private void warmUp() throws InterruptedException {
        int depth = Math.min(WARM_UP_DEPTH, subject.deviceDepth());
        int batch = Math.min(WARM_UP_BATCH, ConfigurationSpace.maxBatch(subject.recordBytes()));
        for (int i = 0; i < 2; i++) {
            load(new Configuration(1, 0, 1, depth), threads -> Thread.sleep(COMPILERS_MILLIS));
            if (!subject.coded()) {
                load(new Configuration(1, 1, batch, depth), threads -> Thread.sleep(COMPILERS_MILLIS));
            }
        }
    }

    private interface LoadPhase {
        void run(List<ApplicationThread> threads) throws InterruptedException;
    }

    private void load(Configuration configuration, LoadPhase meanwhile) throws InterruptedException {
        List<ApplicationThread> threads = new ArrayList<>();
        if (!subject.coded()) {
            cache.reconfigure(CacheConfiguration.DIRECT.with(configuration));
        }
        try {
            for (int i = 0; i < configuration.clientThreads(); i++) {
                threads.add(new ApplicationThread(
                        cache,
                        subject.recordBytes(),
                        subject.readPercent(),
                        configuration.batchSize() * configuration.queueDepth(),
                        seed++,
                        core(i, configuration.clientThreads())));
            }
            meanwhile.run(threads);
        } finally {
            threads.forEach(ApplicationThread::close);
        }
    }

    /**
     * Chooses cores from the first one up, if there are more cores than threads: a server on this host uses cores from
     * the last one down.
     */
    private int core(int thread, int threads) {
        return cores.size() > threads ? cores.get(thread) : ThreadAffinity.ANY;
    }

    private void take(MeasurementWindows windows, List<ApplicationThread> threads, Runnable begun)
            throws InterruptedException {
        Thread.sleep(WARM_UP_MILLIS);
        begun.run();
        long start = System.nanoTime();
        long from = start;
        long before = completed(threads);
        LatencySums sumsBefore = cache.latency().sums();
        while (!windows.settled()
                && System.nanoTime() - start < (windows.count() == 0 ? PATIENCE_MILLIS : MOST_MILLIS) * 1_000_000L) {
            Thread.sleep(WINDOW_MILLIS);
            long completed = completed(threads);
            LatencySums sums = cache.latency().sums();
            long now = System.nanoTime();
            LatencySums done = sums.minus(sumsBefore);
            if (completed == before || lacks(done)) {
                // A slow configuration: the window is extended.
                continue;
            }
            windows.add(done.readLatencyNanos(), done.writeLatencyNanos(), (completed - before) * 1e9 / (now - from));
            before = completed;
            sumsBefore = sums;
            from = now;
        }
    }

    private boolean lacks(LatencySums done) {
        return subject.readPercent() > 0 && done.reads() == 0 || subject.readPercent() < 100 && done.writes() == 0;
    }

    private static long completed(List<ApplicationThread> threads) {
        long completed = 0;
        for (ApplicationThread thread : threads) {
            completed += thread.completed();
        }
        return completed;
    }

    @Override
    public void close() {
        cache.close();
    }
}
