package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.Plot;
import io.farheap.kv.FarMap;
import io.farheap.lifetime.Closeables;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;

/**
 * A load on a map while its memory changes, in windows of 0.1 s: clients, each with a lease of its own as if they were
 * processes, get Zipfian keys, one at a time, and set missing ones.
 */
final class WindowedMapLoad implements AutoCloseable {

    private final BenchReport report;
    private final PrintStream out;
    private final String named;
    private final List<LoadClient> clients = new ArrayList<>();
    private final List<AutoCloseable> ends = new ArrayList<>();
    private final List<Double> seconds = new ArrayList<>();
    private final List<Double> rates = new ArrayList<>();
    private final long started = System.nanoTime();

    /** @param named value of {@code case} in the rows */
    WindowedMapLoad(BenchReport report, PrintStream out, String named) {
        this.report = report;
        this.out = out;
        this.named = named;
        out.printf("%8s%10s%16s%10s%12s%12s%12s%n", "s", "KiB", "operations/s", "hits %", "p50 ns", "p99", "longest");
    }

    /**
     * Adds a client.
     *
     * @param map closed with the load
     */
    void use(FarMap map, long objects) {
        ends.addFirst(map);
        LoadClient client = new LoadClient(map, objects, clients.size());
        ends.addFirst(client);
        clients.add(client);
    }

    /**
     * Measures for {@code count} windows.
     *
     * @param bytes of the map meanwhile
     * @return the longest request, in ns
     */
    long windows(int count, long bytes) {
        long longest = 0;
        for (int i = 0; i < count; i++) {
            longest = Math.max(longest, window(bytes));
        }
        return longest;
    }

    /** Drops the requests since the last window: they are in none. */
    void skip() {
        clients.forEach(LoadClient::forget);
    }

    private long window(long bytes) {
        MapLoadWindow window = MapLoadWindow.measure(clients);
        long missed = clients.stream().mapToLong(LoadClient::missedSince).sum();
        Histogram latency = window.latency();
        double at = (window.ended() - started) / 1e9;
        double rate = window.operationsPerSecond();
        double hits = 100 - 100.0 * missed / Math.max(1, latency.getTotalCount());
        seconds.add(at);
        rates.add(rate);
        out.printf(
                "%8.2f%,10d%,16.0f%10.1f%,12d%,12d%,12d%n",
                at,
                bytes >> 10,
                rate,
                hits,
                latency.getValueAtPercentile(50),
                latency.getValueAtPercentile(99),
                latency.getMaxValue());
        report.row()
                .put("part", "elasticity")
                .put("case", named)
                .put("seconds", at)
                .put("bytes", bytes)
                .put("ops_per_s", rate)
                .put("hit_pct", hits)
                .put("p50_ns", (double) latency.getValueAtPercentile(50))
                .put("p99_ns", (double) latency.getValueAtPercentile(99))
                .put("max_ns", (double) latency.getMaxValue());
        return latency.getMaxValue();
    }

    Plot plot(String file, String title, String series) {
        return Plot.lines(file, title, "s", "operations/s")
                .series(
                        series,
                        seconds.stream().mapToDouble(Double::doubleValue).toArray(),
                        rates.stream().mapToDouble(Double::doubleValue).toArray());
    }

    @Override
    public void close() {
        Closeables.all(ends);
    }
}
