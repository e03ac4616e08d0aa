package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import java.io.PrintStream;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;

/**
 * YCSB A to D on pairs of 256 bytes (Ditto, figures 14 and 15), uniform and Zipfian keys, in a {@link ClosedLoop}.
 * Rates are medians of windows of 0.1 s.
 */
final class YcsbPart {

    private static final int MOST_THREADS = 2;

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
    private final int windows;
    private final List<Integer> sessionCounts;

    /**
     * @param objects in the map
     * @param windows of 0.1 s for each figure
     */
    YcsbPart(BenchReport report, PrintStream out, long objects, int windows, List<Integer> sessionCounts) {
        this.sessionCounts = sessionCounts;
        this.report = report;
        this.out = out;
        this.objects = objects;
        this.windows = windows;
    }

    void run() {
        out.printf(
                "%nycsb: %,d objects of 256 bytes, %d threads; a closed loop, one request under way for each session%n",
                objects, ClosedLoop.threads(MOST_THREADS));
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
        // The memory of a closed map is still being zeroed when the next one is created.
        try (ServerProcess server = BenchMaps.server(4 * room, room)) {
            for (Workload workload : WORKLOADS) {
                for (boolean zipfian : new boolean[] {false, true}) {
                    for (int sessions : sessionCounts) {
                        FarMap map = BenchMaps.create(server, "ycsb", room, 4 * objects);
                        try {
                            measure(map, workload, zipfian, sessions);
                        } finally {
                            map.drop();
                        }
                    }
                }
            }
        }
    }

    private void measure(FarMap map, Workload workload, boolean zipfian, int sessions) {
        BenchMaps.fill(map, objects);
        ClosedLoop.LoopResult ran = ClosedLoop.run(sessions, windows, thread -> side(map, workload, zipfian, thread));
        print(workload, zipfian, sessions, ran);
        Histogram latency = ran.latency();
        BenchReport.Row row = report.row()
                .put("part", "ycsb")
                .put("engine", "disaggregated")
                .put("workload", workload.name())
                .put("keys", zipfian ? "zipfian" : "uniform")
                .put("sessions", (long) sessions)
                .put("threads", (long) ClosedLoop.threads(sessions));
        ran.put(row)
                .put("p999_ns", (double) latency.getValueAtPercentile(99.9))
                .put("max_ns", (double) latency.getMaxValue())
                .put("paper_ops_per_s", workload.paper() * 1e6);
    }

    private Supplier<ClosedLoop.LoopClient> side(FarMap map, Workload workload, boolean zipfian, int thread) {
        SplittableRandom random = new SplittableRandom(thread);
        YcsbKeys keys = new YcsbKeys(objects, thread);
        return () -> new MapClient(map, BenchMaps.VALUE_BYTES) {
            @Override
            public void begin() {
                double what = random.nextDouble();
                if (what < workload.updates()) {
                    caller.beginSet(zipfian ? keys.zipfian() : random.nextLong(objects));
                } else if (what < workload.updates() + workload.inserts()) {
                    // Threads insert keys of their own.
                    caller.beginSet((long) thread << 40 | keys.insert());
                } else {
                    get(key(workload, zipfian, keys, random, thread));
                }
            }
        };
    }

    private long key(Workload workload, boolean zipfian, YcsbKeys keys, SplittableRandom random, int seed) {
        if (workload.inserts() > 0) {
            long latest = keys.latest();
            return latest < objects ? latest : (long) seed << 40 | latest;
        }
        return zipfian ? keys.zipfian() : random.nextLong(objects);
    }

    private void print(Workload workload, boolean zipfian, int sessions, ClosedLoop.LoopResult ran) {
        Histogram latency = ran.latency();
        out.printf(
                "%-6s%-10s%10d%,16.0f%,12d%,12d%,12d%,12d%12.3f%10.2f%10.1f%n",
                workload.name(),
                zipfian ? "zipfian" : "uniform",
                sessions,
                ran.rates().median(),
                latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99),
                latency.getValueAtPercentile(99.9),
                latency.getMaxValue(),
                ran.posted().operations() / (double) Math.max(1, ran.requests()),
                ran.hitPercent(),
                workload.paper());
    }
}
