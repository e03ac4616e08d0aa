package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.lifetime.Closing;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

/**
 * Rate and hits over time while a map gets more memory twice: two clients, each with a lease of its own as processes
 * have, get Zipfian keys, one at a time, and set what is missing.
 */
final class GrowingMap {

    private static final int CLIENTS = 2;
    private static final int GROWTHS = 2;
    private static final long WINDOW_NANOS = 100_000_000;
    /** Of the table, for an object. */
    private static final int TABLE_BYTES = 160;
    /** In the beginning the map has its table and little more. */
    private static final int LEAST_BYTES = 192 << 10;

    private final BenchReport report;
    private final PrintStream out;
    private final long objects;
    private final int windows;
    private final List<Double> seconds = new ArrayList<>();
    private final List<Double> rates = new ArrayList<>();

    /**
     * @param objects that are asked for
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
                        + "Zipfian, and set what is missing%n",
                memory >> 10, GROWTHS, objects);
        out.printf("%8s%10s%16s%10s%12s%12s%n", "s", "KiB", "operations/s", "hits %", "p50 ns", "p99");
        List<AutoCloseable> ends = new ArrayList<>();
        try (ServerProcess server = BenchMaps.server((1 + GROWTHS) * memory, memory);
                FarMap map = BenchMaps.create(server, "growing", memory, objects)) {
            try {
                List<Client> clients = new ArrayList<>();
                for (int i = 0; i < CLIENTS; i++) {
                    FarMap opened = BenchMaps.open(server, "growing");
                    ends.addFirst(opened);
                    Client client = new Client(opened, i);
                    ends.addFirst(client);
                    clients.add(client);
                }
                long started = System.nanoTime();
                for (int grown = 0; grown <= GROWTHS; grown++) {
                    CompletableFuture<Double> growth =
                            grown == 0 ? null : CompletableFuture.supplyAsync(() -> grow(map, memory));
                    for (int i = 0; i < windows; i++) {
                        window(clients, started, (1 + grown) * memory);
                    }
                    if (growth != null) {
                        say(memory, growth.join());
                    }
                }
            } finally {
                Closing.all(ends);
            }
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

    private void window(List<Client> clients, long started, long bytes) {
        long begun = System.nanoTime();
        for (long left = WINDOW_NANOS; left > 0; left = begun + WINDOW_NANOS - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        Histogram latency = new Histogram(3);
        long missed = 0;
        for (Client client : clients) {
            latency.add(client.recorder.getIntervalHistogram());
            missed += client.missedSince();
        }
        long ended = System.nanoTime();
        double at = (ended - started) / 1e9;
        double rate = latency.getTotalCount() * 1e9 / (ended - begun);
        double hits = 100 - 100.0 * missed / Math.max(1, latency.getTotalCount());
        seconds.add(at);
        rates.add(rate);
        out.printf(
                "%8.2f%,10d%,16.0f%10.1f%,12d%,12d%n",
                at, bytes >> 10, rate, hits, latency.getValueAtPercentile(50), latency.getValueAtPercentile(99));
        report.row()
                .put("part", "elasticity")
                .put("case", "memory")
                .put("seconds", at)
                .put("bytes", bytes)
                .put("ops_per_s", rate)
                .put("hit_pct", hits)
                .put("p50_ns", (double) latency.getValueAtPercentile(50))
                .put("p99_ns", (double) latency.getValueAtPercentile(99));
    }

    Plot plot() {
        return Plot.lines("kv-elasticity-memory", "Requests a second while a map grows", "s", "operations/s")
                .series(
                        "two growths",
                        seconds.stream().mapToDouble(Double::doubleValue).toArray(),
                        rates.stream().mapToDouble(Double::doubleValue).toArray());
    }

    /** A thread that gets, and sets what is missing, until it is ended. */
    private final class Client implements AutoCloseable {

        private final SingleWriterRecorder recorder = new SingleWriterRecorder(3);
        private final Thread thread;
        private volatile long missed;
        private long missedBefore;
        private volatile boolean ended;

        Client(FarMap map, int number) {
            thread = Thread.ofPlatform().name("client " + number).daemon().start(() -> use(map, number));
        }

        private void use(FarMap map, int number) {
            YcsbKeys keys = new YcsbKeys(objects, number);
            try (MapCaller caller = new MapCaller(map.openSession(), BenchMaps.VALUE_BYTES)) {
                for (long before = System.nanoTime(); !ended; ) {
                    long key = keys.zipfian();
                    if (!caller.get(key)) {
                        missed = caller.absent();
                        caller.set(key);
                    }
                    long after = System.nanoTime();
                    recorder.recordValue(after - before);
                    before = after;
                }
            }
        }

        /** How many requests have missed since this was asked last. */
        long missedSince() {
            long now = missed;
            long since = now - missedBefore;
            missedBefore = now;
            return since;
        }

        @Override
        public void close() {
            ended = true;
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted", e);
            }
        }
    }
}
