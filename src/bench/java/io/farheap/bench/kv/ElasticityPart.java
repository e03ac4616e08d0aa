package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.lifetime.Closeables;
import java.io.PrintStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * Measures rate and latency over time while clients come and go (Ditto, figures 1 and 13): the number of threads, each
 * with a session that reads Zipfian keys, one request at a time, doubles and halves. No data is moved for that.
 */
final class ElasticityPart {

    private static final int[] CLIENTS = {1, 2, 4, 2, 1};

    private final BenchReport report;
    private final PrintStream out;
    private final long objects;
    private final int windows;
    private final List<Double> seconds = new ArrayList<>();
    private final List<Double> rates = new ArrayList<>();

    /**
     * @param objects in the map
     * @param windows of 0.1 s with each number of clients
     */
    ElasticityPart(BenchReport report, PrintStream out, long objects, int windows) {
        this.report = report;
        this.out = out;
        this.objects = objects;
        this.windows = windows;
    }

    void run() {
        long room = BenchMaps.room(objects);
        out.printf(
                "%nelasticity: %,d objects of 256 bytes, reads of Zipfian keys, a thread for each client; windows of 0.1 s%n",
                objects);
        out.printf("%8s%10s%16s%12s%12s%n", "s", "clients", "operations/s", "p50 ns", "p99");
        Deque<LoadClient> clients = new ArrayDeque<>();
        try (ServerProcess server = BenchMaps.server(room, room);
                FarMap map = BenchMaps.create(server, "elasticity", room, 4 * objects)) {
            BenchMaps.fill(map, objects);
            long started = System.nanoTime();
            try {
                for (int count : CLIENTS) {
                    while (clients.size() < count) {
                        clients.push(new LoadClient(map, objects, clients.size()));
                    }
                    while (clients.size() > count) {
                        clients.pop().close();
                    }
                    for (int i = 0; i < windows; i++) {
                        window(clients, started);
                    }
                }
            } finally {
                Closeables.all(clients);
            }
        }
    }

    private void window(Deque<LoadClient> clients, long started) {
        // Requests that ended while clients came or went are in no window.
        clients.forEach(LoadClient::forget);
        MapLoadWindow window = MapLoadWindow.measure(clients);
        Histogram latency = window.latency();
        double at = (window.ended() - started) / 1e9;
        double rate = window.operationsPerSecond();
        seconds.add(at);
        rates.add(rate);
        out.printf(
                "%8.2f%10d%,16.0f%,12d%,12d%n",
                at, clients.size(), rate, latency.getValueAtPercentile(50), latency.getValueAtPercentile(99));
        report.row()
                .put("part", "elasticity")
                .put("case", "clients")
                .put("seconds", at)
                .put("clients", (long) clients.size())
                .put("ops_per_s", rate)
                .put("p50_ns", (double) latency.getValueAtPercentile(50))
                .put("p99_ns", (double) latency.getValueAtPercentile(99));
    }

    Plot plot() {
        return Plot.lines("kv-elasticity", "Reads a second while clients come and go", "s", "operations/s")
                .series(
                        "1, 2, 4, 2, 1 clients",
                        seconds.stream().mapToDouble(Double::doubleValue).toArray(),
                        rates.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
