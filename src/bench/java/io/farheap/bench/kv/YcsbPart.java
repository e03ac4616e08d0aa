package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.remote.VerbCounts;
import io.farheap.verbs.Devices;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/**
 * YCSB A to D on pairs of 256 bytes (Ditto, figures 14 and 15), uniform and Zipfian keys, by sessions that each keep
 * one request under way, on as many threads as there are cores. Latency is from the issue of a request until its
 * thread, which goes round its sessions, has come to it again and found it ended: with many sessions it is mostly that
 * round.
 */
final class YcsbPart {

    private static final int LOOK_EVERY = 64;

    private record Workload(String name, double updates, double inserts, double paper) {}

    /** The paper's rates: millions a second, with Zipfian keys, one server. */
    private static final List<Workload> WORKLOADS = List.of(
            new Workload("A", 0.5, 0, 10.5),
            new Workload("B", 0.05, 0, 13.1),
            new Workload("C", 0, 0, 13.2),
            new Workload("D", 0, 0.05, 13.0));

    private final BenchReport report;
    private final PrintStream out;
    private final long objects;
    private final long nanos;
    private final List<Integer> sessionCounts;

    /**
     * @param objects in the map
     * @param nanos for each figure
     */
    YcsbPart(BenchReport report, PrintStream out, long objects, long nanos, List<Integer> sessionCounts) {
        this.sessionCounts = sessionCounts;
        this.report = report;
        this.out = out;
        this.objects = objects;
        this.nanos = nanos;
    }

    void run() {
        int threads = Math.min(2, Runtime.getRuntime().availableProcessors());
        out.printf(
                "%nycsb: %,d objects of 256 bytes, %d threads; a closed loop, one request under way for each session%n",
                objects, threads);
        out.printf(
                "%-6s%-10s%10s%16s%12s%12s%12s%12s%12s%10s%s%n",
                "YCSB",
                "keys",
                "sessions",
                "operations/s",
                "p50 ns",
                "p99",
                "p99.9",
                "max",
                "messages",
                "hit %",
                "   the paper's, million/s");
        long room = BenchMaps.room(objects);
        // A map that has ended is zeroed while the next one is there.
        try (ServerProcess server = ServerProcess.start(Devices.library(), 4 * room, room)) {
            for (Workload workload : WORKLOADS) {
                for (boolean zipfian : new boolean[] {false, true}) {
                    for (int sessions : sessionCounts) {
                        FarMap map = BenchMaps.create(server, "ycsb", room, 4 * objects);
                        try {
                            measure(map, workload, zipfian, sessions, Math.min(threads, sessions));
                        } finally {
                            map.drop();
                        }
                    }
                }
            }
        }
    }

    /** @param perSecond requests */
    private record Ran(long requests, double perSecond, long gets, long hits, Histogram latency) {}

    private void measure(FarMap map, Workload workload, boolean zipfian, int sessions, int threads) {
        try (ExecutorService executor = Executors.newFixedThreadPool(threads)) {
            try (MapCaller filling = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES)) {
                for (long key = 0; key < objects; key++) {
                    filling.set(key);
                }
            }
            VerbCounts before = map.counts().posted();
            // All begin when all have opened their sessions.
            CyclicBarrier ready = new CyclicBarrier(threads);
            List<Future<Ran>> running = new ArrayList<>();
            for (int thread = 0; thread < threads; thread++) {
                int first = thread;
                int own = sessions / threads + (thread < sessions % threads ? 1 : 0);
                running.add(executor.submit(() -> run(map, workload, zipfian, own, first, ready)));
            }
            Histogram latency = new Histogram(3);
            double perSecond = 0;
            long requests = 0;
            long gets = 0;
            long hits = 0;
            for (Future<Ran> future : running) {
                Ran ran = future.get();
                latency.add(ran.latency);
                requests += ran.requests;
                perSecond += ran.perSecond;
                gets += ran.gets;
                hits += ran.hits;
            }
            double each = Math.max(1, requests);
            VerbCounts posted = map.counts().posted().since(before);
            print(workload, zipfian, sessions, perSecond, latency, posted.operations() / each, gets, hits);
            report.row()
                    .put("part", "ycsb")
                    .put("engine", "disaggregated")
                    .put("workload", workload.name())
                    .put("keys", zipfian ? "zipfian" : "uniform")
                    .put("sessions", (long) sessions)
                    .put("threads", (long) threads)
                    .put("ops_per_s", perSecond)
                    .put("p50_ns", (double) latency.getValueAtPercentile(50))
                    .put("p99_ns", (double) latency.getValueAtPercentile(99))
                    .put("p999_ns", (double) latency.getValueAtPercentile(99.9))
                    .put("max_ns", (double) latency.getMaxValue())
                    .put("reads", posted.reads() / each)
                    .put("writes", posted.writes() / each)
                    .put("cas", posted.swaps() / each)
                    .put("faa", posted.adds() / each)
                    .put("hit_pct", 100.0 * hits / Math.max(1, gets))
                    .put("paper_ops_per_s", workload.paper() * 1e6);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a thread of YCSB's failed: " + e.getCause(), e);
        }
    }

    /** Sessions of one thread: each begins its next request when its last one has ended. */
    private Ran run(FarMap map, Workload workload, boolean zipfian, int sessions, int seed, CyclicBarrier ready)
            throws InterruptedException, BrokenBarrierException {
        SplittableRandom random = new SplittableRandom(seed);
        YcsbKeys keys = new YcsbKeys(objects, seed);
        Histogram latency = new Histogram(3);
        MapCaller[] callers = new MapCaller[sessions];
        long[] begun = new long[sessions];
        long requests = 0;
        long gets = 0;
        try {
            for (int i = 0; i < sessions; i++) {
                callers[i] = new MapCaller(map.openSession(2), BenchMaps.VALUE_BYTES);
            }
            ready.await();
            long started = System.nanoTime();
            long end = started + nanos;
            for (long i = 0; i % LOOK_EVERY != 0 || System.nanoTime() < end; i++) {
                int at = (int) (i % sessions);
                MapCaller caller = callers[at];
                caller.drain();
                long now = System.nanoTime();
                if (begun[at] != 0) {
                    latency.recordValue(now - begun[at]);
                    requests++;
                }
                begun[at] = now;
                double what = random.nextDouble();
                if (what < workload.updates()) {
                    caller.beginSet(zipfian ? keys.zipfian() : random.nextLong(objects));
                } else if (what < workload.updates() + workload.inserts()) {
                    // Threads insert keys of their own.
                    caller.beginSet((long) seed << 40 | keys.insert());
                } else {
                    gets++;
                    caller.beginGet(key(workload, zipfian, keys, random, seed));
                }
            }
            long absent = 0;
            for (MapCaller caller : callers) {
                caller.drain();
                absent += caller.absent();
            }
            double perSecond = requests * 1e9 / (System.nanoTime() - started);
            return new Ran(requests, perSecond, gets, gets - absent, latency);
        } finally {
            for (MapCaller caller : callers) {
                if (caller != null) {
                    caller.close();
                }
            }
        }
    }

    private long key(Workload workload, boolean zipfian, YcsbKeys keys, SplittableRandom random, int seed) {
        if (workload.inserts() > 0) {
            long latest = keys.latest();
            return latest < objects ? latest : (long) seed << 40 | latest;
        }
        return zipfian ? keys.zipfian() : random.nextLong(objects);
    }

    private void print(
            Workload workload,
            boolean zipfian,
            int sessions,
            double perSecond,
            Histogram latency,
            double messages,
            long gets,
            long hits) {
        out.printf(
                "%-6s%-10s%10d%,16.0f%,12d%,12d%,12d%,12d%12.3f%10.2f%10.1f%n",
                workload.name(),
                zipfian ? "zipfian" : "uniform",
                sessions,
                perSecond,
                latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99),
                latency.getValueAtPercentile(99.9),
                latency.getMaxValue(),
                messages,
                100.0 * hits / Math.max(1, gets),
                workload.paper());
    }
}
