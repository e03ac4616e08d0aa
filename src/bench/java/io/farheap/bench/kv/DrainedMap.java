package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.kv.contract.MapDrain;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Measures rate and hits over time while a second server with as much memory joins a map, and while it is drained again
 * within a time: how long each takes, how much is moved, and how many of the hottest tenth of the keys are still
 * present.
 */
final class DrainedMap {

    private static final int CLIENTS = 2;
    /** One key in this many is hot. */
    private static final int HOT = 10;

    /** Bytes of an object in the table and in blocks. */
    private static final int OBJECT_BYTES = 2 * 80 + BenchMaps.BLOCK_BYTES;

    /** The least bytes of each server. */
    static final long LEAST_BYTES = 192 << 10;

    private static final double MILLI = 1e6;

    private final BenchReport report;
    private final PrintStream out;
    private final long memory;
    private final Duration within;
    private final int windows;
    private long objects;
    private @Nullable Plot plot;

    /**
     * @param least the least number of objects
     * @param bytes of each server, a power of two; 0: as many as that number of objects takes
     * @param within the time for moving and evicting
     * @param windows of 0.1 s before, between and after
     */
    DrainedMap(BenchReport report, PrintStream out, long least, long bytes, Duration within, int windows) {
        this.report = report;
        this.out = out;
        memory = bytes > 0 ? bytes : BenchMaps.powerOfTwo(least * OBJECT_BYTES / 2 + LEAST_BYTES);
        this.within = within;
        this.windows = windows;
    }

    void run() {
        // As many objects as both servers have room for.
        objects = 2 * memory / OBJECT_BYTES;
        out.printf(
                "%nelasticity: a map of %,d KiB, which a server of as much joins and leaves; 2 clients get %,d objects of "
                        + "256 bytes, Zipfian, and set those that are missing%n",
                memory >> 10, objects);
        try (ServerProcess first = BenchMaps.server(memory, memory);
                ServerProcess second = BenchMaps.server(memory, memory);
                FarMap map = BenchMaps.create(first, "drained", memory, objects);
                MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES);
                WindowedMapLoad load = new WindowedMapLoad(report, out, "server")) {
            for (int i = 0; i < CLIENTS; i++) {
                load.use(BenchMaps.open(first, "drained"), objects);
            }
            load.windows(windows, memory);
            CompletableFuture<Double> joined = CompletableFuture.supplyAsync(() -> join(map, second, memory));
            load.windows(windows, 2 * memory);
            sayJoined(joined.join());
            for (long key = 0; key < objects; key++) {
                caller.set(key);
            }
            long hot = hot(caller);
            load.skip();
            long quiet = load.windows(windows, 2 * memory);
            long begun = System.nanoTime();
            CompletableFuture<MapDrain> drained =
                    CompletableFuture.supplyAsync(() -> map.drain(second.address(), within));
            long longest = 0;
            while (!drained.isDone()) {
                longest = Math.max(longest, load.windows(1, 2 * memory));
            }
            double millis = (System.nanoTime() - begun) / MILLI;
            say(drained.join(), millis, quiet, longest, hot, hot(caller));
            // Without the requests that ended while hot keys were counted.
            load.skip();
            load.windows(windows, memory);
            plot = load.plot(
                    "kv-elasticity-server", "Requests a second while a server joins and leaves", "a server more");
        }
    }

    /** @return milliseconds until the memory was used */
    private static double join(FarMap map, ServerProcess server, long memory) {
        long begun = System.nanoTime();
        map.addServer(server.address(), memory);
        return (System.nanoTime() - begun) / MILLI;
    }

    private void sayJoined(double millis) {
        out.printf("the server's %,d KiB were used %.0f ms after they were asked for%n", memory >> 10, millis);
        report.row()
                .put("part", "elasticity")
                .put("case", "join")
                .put("bytes", memory)
                .put("milliseconds", millis);
    }

    private void say(MapDrain drained, double millis, long quiet, long longest, long hot, long still) {
        out.printf(
                "drained in %.0f ms: %s; the longest request took %,d ns, before %,d; of the hottest tenth of the keys "
                        + "%,d were there, %,d still are%n",
                millis, drained, longest, quiet, hot, still);
        report.row()
                .put("part", "elasticity")
                .put("case", "drain")
                .put("within_ms", (double) within.toMillis())
                .put("milliseconds", millis)
                .put("moved", drained.moved())
                .put("evicted", drained.evicted())
                .put("moved_bytes", drained.movedBytes())
                .put("max_ns", (double) longest)
                .put("quiet_max_ns", (double) quiet)
                .put("hot", hot)
                .put("hot_still", still);
    }

    /** Returns how many of the hottest keys are present. */
    private long hot(MapCaller caller) {
        long found = 0;
        for (long rank = 0; rank < objects / HOT; rank++) {
            found += caller.get(YcsbKeys.keyOf(rank, objects)) ? 1 : 0;
        }
        return found;
    }

    Plot plot() {
        return Objects.requireNonNull(plot, "it has not run");
    }
}
