package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import java.io.PrintStream;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Measures rate and hits over time while a map gets more memory twice: two clients, each with a lease of its own as if
 * they were processes, get Zipfian keys, one at a time, and set missing ones.
 */
final class GrowingMap {

    private static final int CLIENTS = 2;
    private static final int GROWTHS = 2;
    /** Bytes of the table for an object. */
    private static final int TABLE_BYTES = 160;
    /** At first the map has its table and little more. */
    private static final int LEAST_BYTES = 192 << 10;

    private final BenchReport report;
    private final PrintStream out;
    private final long objects;
    private final int windows;
    private @Nullable Plot plot;

    /**
     * @param objects the number of keys that are requested
     * @param windows of 0.1 s with each size of the map
     */
    GrowingMap(BenchReport report, PrintStream out, long objects, int windows) {
        this.report = report;
        this.out = out;
        this.objects = objects;
        this.windows = windows;
    }

    void run() {
        long memory = BenchMaps.powerOfTwo(objects * TABLE_BYTES + LEAST_BYTES);
        out.printf(
                "%nelasticity: a map of %,d KiB that grows %d times by as much; 2 clients get %,d objects of 256 bytes, "
                        + "Zipfian, and set those that are missing%n",
                memory >> 10, GROWTHS, objects);
        try (ServerProcess server = BenchMaps.server((1 + GROWTHS) * memory, memory);
                FarMap map = BenchMaps.create(server, "growing", memory, objects);
                WindowedMapLoad load = new WindowedMapLoad(report, out, "memory")) {
            for (int i = 0; i < CLIENTS; i++) {
                load.use(BenchMaps.open(server, "growing"), objects);
            }
            for (int grown = 0; grown <= GROWTHS; grown++) {
                CompletableFuture<Double> growth =
                        grown == 0 ? null : CompletableFuture.supplyAsync(() -> grow(map, memory));
                load.windows(windows, (1 + grown) * memory);
                if (growth != null) {
                    say(memory, growth.join());
                }
            }
            plot = load.plot("kv-elasticity-memory", "Requests a second while a map grows", "two growths");
        }
    }

    /** @return milliseconds until the memory was used */
    private static double grow(FarMap map, long bytes) {
        long begun = System.nanoTime();
        map.grow(bytes);
        return (System.nanoTime() - begun) / 1e6;
    }

    private void say(long bytes, double millis) {
        out.printf("the last %,d KiB were used %.0f ms after they were asked for%n", bytes >> 10, millis);
        report.row()
                .put("part", "elasticity")
                .put("case", "growth")
                .put("bytes", bytes)
                .put("milliseconds", millis);
    }

    Plot plot() {
        return Objects.requireNonNull(plot, "it has not run");
    }
}
