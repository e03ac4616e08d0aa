package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.VerbCounts;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * Clients that each keep one request under way, on as many threads as there are cores, two at most. Latency is measured
 * from the issue of a request until its thread, which visits its clients in turn, has come to it again and found it
 * ended: with many clients it is mostly the time of that round. A client issues a request when its last one has ended,
 * so a stall counts once (coordinated omission). The first windows, in which code is compiled, do not count.
 */
final class ClosedLoop {

    static final long WINDOW_NANOS = 100_000_000;
    private static final int WARM_UPS = 3;
    private static final long END_NANOS = 10_000_000_000L;
    private static final int MOST_THREADS = 2;
    /** The least requests of a thread, however slow the machine is: the counts of fewer requests are too inexact. */
    private static final int LEAST_REQUESTS = 500;
    /** While no request ends, the thread reads the clock once in this many visits of a client. */
    private static final int LOOK_EVERY = 64;

    /** A client. One thread. */
    interface LoopClient extends AutoCloseable {

        /** Begins its next request. Its last request must have ended. */
        void begin();

        /** Whether its request has ended. Does not wait, unless the server of its store needs this thread's core. */
        boolean ended();

        VerbCounts posted();

        /** Returns how many gets it has begun. */
        long gets();

        /** Returns how many gets did not find their key. */
        long absent();

        @Override
        void close();
    }

    /** Opens the clients of one thread. */
    @FunctionalInterface
    interface LoopClientFactory {
        Supplier<LoopClient> of(int thread);
    }

    /**
     * The result of a run.
     *
     * @param rates requests a second, of each window
     * @param cpuNanos processor time of the clients' threads
     * @param allRequests with those of the windows that do not count, which a server has served, too
     */
    record LoopResult(
            long requests,
            Samples rates,
            Histogram latency,
            VerbCounts posted,
            long gets,
            long absent,
            long cpuNanos,
            long allRequests) {

        /** Returns an empty result, to which others are added. */
        static LoopResult nothing() {
            return new LoopResult(0, new Samples(), new Histogram(3), MapTrace.none(), 0, 0, 0, 0);
        }

        /** Returns both results as if they were of one run. */
        LoopResult and(LoopResult other) {
            Samples both = new Samples();
            both.addAll(rates);
            both.addAll(other.rates);
            Histogram all = latency.copy();
            all.add(other.latency);
            return new LoopResult(
                    requests + other.requests,
                    both,
                    all,
                    MapTrace.sum(posted, other.posted),
                    gets + other.gets,
                    absent + other.absent,
                    cpuNanos + other.cpuNanos,
                    allRequests + other.allRequests);
        }

        /**
         * Returns the processor time of a request in the clients' threads, which depends less than the rate on the
         * other load of the machine.
         */
        double cpuNanosOfOne() {
            return cpuNanos / (double) Math.max(1, requests);
        }

        /**
         * Returns the processor time of a request in the server.
         *
         * @param serverNanos from the beginning of the run to its end
         */
        double serverCpuNanosOfOne(long serverNanos) {
            return serverNanos / (double) Math.max(1, allRequests);
        }

        /** Puts the fields that each row of a closed loop has; an invalid one has no rates and no times. */
        BenchReport.Row put(BenchReport.Row row, Validity validity) {
            row.put("ops_per_s", validity.compared(rates.median()))
                    .put("ops_per_s_p25", validity.compared(rates.lowerQuartile()))
                    .put("ops_per_s_p75", validity.compared(rates.upperQuartile()))
                    .put("ops_per_s_least", validity.compared(rates.least()))
                    .put("ops_per_s_most", validity.compared(rates.most()))
                    .put("p50_ns", validity.compared((double) latency.getValueAtPercentile(50)))
                    .put("p99_ns", validity.compared((double) latency.getValueAtPercentile(99)))
                    .put("cpu_ns", validity.compared(cpuNanosOfOne()));
            return MapTrace.put(row, posted, requests).put("hit_pct", hitPercent());
        }

        double hitPercent() {
            return 100.0 * (gets - absent) / Math.max(1, gets);
        }
    }

    private final int windows;
    private final int warmUps;
    private final LoopClientFactory side;
    private final int threads;
    private final int clients;
    private final double[][] rates;

    private ClosedLoop(int clients, int windows, int warmUps, LoopClientFactory side) {
        this.clients = clients;
        this.windows = windows;
        this.warmUps = warmUps;
        this.side = side;
        threads = threads(clients);
        rates = new double[threads][windows];
    }

    /** Returns the number of threads for so many clients. */
    static int threads(int clients) {
        return Math.min(clients, Math.min(MOST_THREADS, Runtime.getRuntime().availableProcessors()));
    }

    /** @param windows of 0.1 s that count */
    static LoopResult run(int clients, int windows, LoopClientFactory side) {
        return new ClosedLoop(clients, windows, WARM_UPS, side).run();
    }

    /** Runs a turn: a window that counts, after one in which new sessions begin; code has been compiled before. */
    static LoopResult turn(int clients, LoopClientFactory side) {
        return new ClosedLoop(clients, 1, 1, side).run();
    }

    private LoopResult run() {
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            // All threads begin when all have opened their clients.
            CyclicBarrier ready = new CyclicBarrier(threads);
            List<Future<LoopResult>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int number = thread;
                running.add(executor.submit(() -> run(number, ready)));
            }
            LoopResult sum = LoopResult.nothing();
            for (Future<LoopResult> future : running) {
                sum = sum.and(future.get());
            }
            for (int window = 0; window < windows; window++) {
                double rate = 0;
                for (double[] ofThread : rates) {
                    rate += ofThread[window];
                }
                sum.rates.add(rate);
            }
            return sum;
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a thread of the benchmark failed: " + e.getCause(), e);
        }
    }

    private LoopResult run(int thread, CyclicBarrier ready) throws InterruptedException, BrokenBarrierException {
        LoopClient[] own = new LoopClient[clients / threads + (thread < clients % threads ? 1 : 0)];
        List<AutoCloseable> ends = new ArrayList<>();
        try {
            Supplier<LoopClient> opener = side.of(thread);
            for (int i = 0; i < own.length; i++) {
                own[i] = opener.get();
                ends.add(own[i]);
            }
            ready.await();
            return measure(thread, own);
        } catch (Throwable e) {
            // So that no other thread waits for this one.
            ready.reset();
            throw e;
        } finally {
            Closeables.all(ends);
        }
    }

    private LoopResult measure(int thread, LoopClient[] own) {
        Histogram latency = new Histogram(3);
        long[] begun = new long[own.length];
        long from = System.nanoTime() + warmUps * WINDOW_NANOS;
        LoopResult before = null;
        long requests = 0;
        long all = 0;
        int window = 0;
        long windowFrom = 0;
        long inWindow = 0;
        for (long i = 0; ; i++) {
            int at = (int) (i % own.length);
            boolean ended = own[at].ended();
            if (!ended && i % LOOK_EVERY != 0) {
                continue;
            }
            long now = System.nanoTime();
            if (now >= from && before == null) {
                before = counted(own);
                windowFrom = now;
            }
            if (window == windows && requests >= LEAST_REQUESTS) {
                break;
            }
            if (!ended) {
                continue;
            }
            if (before != null) {
                latency.recordValue(now - begun[at]);
                requests++;
                inWindow++;
                if (window < windows && now - windowFrom >= WINDOW_NANOS) {
                    // A window ends with a request: it includes time in which the thread had no processor, and no
                    // window is empty.
                    rates[thread][window++] = inWindow * 1e9 / (now - windowFrom);
                    windowFrom = now;
                    inWindow = 0;
                }
            }
            begun[at] = now;
            all++;
            own[at].begin();
        }
        LoopResult after = counted(own);
        endAll(own);
        return new LoopResult(
                requests,
                new Samples(),
                latency,
                after.posted.since(Objects.requireNonNull(before).posted),
                after.gets - before.gets,
                after.absent - before.absent,
                after.cpuNanos - before.cpuNanos,
                all);
    }

    /** Polls all of its clients: one of them may wait for a lock that another holds. */
    private static void endAll(LoopClient[] own) {
        long deadline = System.nanoTime() + END_NANOS;
        boolean all = false;
        while (!all) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("a request has not ended within 10 s");
            }
            all = true;
            for (LoopClient client : own) {
                all &= client.ended();
            }
        }
    }

    private static LoopResult counted(LoopClient[] own) {
        VerbCounts posted = MapTrace.none();
        long gets = 0;
        long absent = 0;
        for (LoopClient client : own) {
            posted = MapTrace.sum(posted, client.posted());
            gets += client.gets();
            absent += client.absent();
        }
        return new LoopResult(
                0,
                new Samples(),
                new Histogram(3),
                posted,
                gets,
                absent,
                ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime(),
                0);
    }
}
