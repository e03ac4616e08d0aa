package io.farheap.cli.slo;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheConfiguration;
import io.farheap.latency.LatencySums;
import io.farheap.slo.Configuration;
import io.farheap.slo.Measurement;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.thread.Cores;
import io.farheap.thread.Pinning;

import java.util.ArrayList;
import java.util.List;

/**
 * Measures a live cache: switches it to a configuration (c, s, b, q), lets c {@linkplain ApplicationThread application threads} keep
 * {@code b * q} requests in flight each, and takes {@link Windows} of {@value #WINDOW_MILLIS} ms, after {@value #WARM_UP_MILLIS} ms to warm up, until they are
 * settled, for {@value #MOST_MILLIS} ms at most. Latencies are averages from issue to callback, as a cache that is watched measures them. One thread at a time.
 */
final class CacheMeasurement implements Measurement, AutoCloseable {

    /** Shorter than what a scheduler takes from a thread at a time, so that this spoils some windows and not all. */
    static final int WINDOW_MILLIS = 5;
    static final int WARM_UP_MILLIS = 60;
    static final int MOST_MILLIS = 2_000;
    /** For the first request to complete. */
    private static final int PATIENCE_MILLIS = 30_000;

    private final Cache cache;
    private final ModelSubject subject;
    private final List<Integer> cores;
    private long seed;

    /** @param cache closed with it; it times at least a sample of requests, and has no session */
    CacheMeasurement(Cache cache, ModelSubject subject, long seed) {
        this.cache = cache;
        this.subject = subject;
        this.seed = seed;
        this.cores = Cores.near(cache.context().device().name());
    }

    @Override
    public Performance measure(Configuration configuration) throws InterruptedException {
        Windows windows = new Windows(subject.readPercent());
        List<ApplicationThread> threads = new ArrayList<>();
        cache.reconfigure(CacheConfiguration.DIRECT.with(configuration));
        try {
            for (int i = 0; i < configuration.clientThreads(); i++) {
                threads.add(new ApplicationThread(cache, subject.recordBytes(), subject.readPercent(),
                    configuration.batchSize() * configuration.queueDepth(), seed++, core(i, configuration.clientThreads())));
            }
            take(windows, threads);
        } finally {
            threads.forEach(ApplicationThread::close);
        }
        return windows.medians();
    }

    /** From the first core up, where there are more cores than threads: a server of this host takes its own from the last one down. */
    private int core(int thread, int threads) {
        return cores.size() > threads ? cores.get(thread) : Pinning.ANY;
    }

    private void take(Windows windows, List<ApplicationThread> threads) throws InterruptedException {
        Thread.sleep(WARM_UP_MILLIS);
        long start = System.nanoTime();
        long from = start;
        long before = completed(threads);
        LatencySums sumsBefore = cache.latency().sums();
        while (!windows.settled() && System.nanoTime() - start < (windows.count() == 0 ? PATIENCE_MILLIS : MOST_MILLIS) * 1_000_000L) {
            Thread.sleep(WINDOW_MILLIS);
            long completed = completed(threads);
            LatencySums sums = cache.latency().sums();
            long now = System.nanoTime();
            LatencySums done = sums.minus(sumsBefore);
            if (completed == before || lacks(done)) {
                // A slow configuration: the window goes on.
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
