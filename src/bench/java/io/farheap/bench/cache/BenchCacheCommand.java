package io.farheap.bench.cache;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.FirstCore;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.connection.Connection;
import io.farheap.rpc.RingShape;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code farheap bench cache}: measures latency and throughput of a cache over record sizes (Redy, figures 11 and 12).
 */
@Command(
        name = "cache",
        mixinStandardHelpOptions = true,
        description =
                "Latency (one at a time, at half load) and throughput (many in flight) of one session, over record sizes.")
public final class BenchCacheCommand implements Callable<Integer> {

    private static final long REGION_BYTES = 64 << 20;
    private static final int MAX_RECORD = 1 << 20;
    private static final int DEFAULT_DEPTH = 16;
    private static final int MAX_DEPTH = 1024;
    private static final int MAX_IN_FLIGHT = 1 << 16;

    @Option(
            names = "--op",
            split = ",",
            paramLabel = "OP",
            defaultValue = "read,write",
            description = "read, write (default: ${DEFAULT-VALUE})")
    private List<String> names;

    @Option(
            names = "--size",
            split = ",",
            paramLabel = "BYTES",
            converter = Sizes.class,
            defaultValue = "4,8,16,64,256,1k,4k,16k",
            description = "record sizes, up to 1m (default: ${DEFAULT-VALUE})")
    private List<Long> sizes;

    @Option(
            names = "--span",
            split = ",",
            paramLabel = "BYTES",
            converter = Sizes.class,
            defaultValue = "64k",
            description = "how far records are scattered: 64k is hot, 1g is not (default: ${DEFAULT-VALUE})")
    private List<Long> spans;

    @Option(
            names = {"-t", "--queue-depth"},
            paramLabel = "Q",
            defaultValue = "0",
            description =
                    "one-sided records in flight for throughput (default: 16, or the device's limit if that is less)")
    private int depth;

    @Option(
            names = "--batches",
            paramLabel = "Q",
            defaultValue = "8",
            description = "batches in flight, with a server thread (default: ${DEFAULT-VALUE})")
    private int batches;

    @Option(
            names = "--batch",
            paramLabel = "B",
            defaultValue = "512",
            description = "requests in a batch, as far as they come to 4 KB (default: ${DEFAULT-VALUE})")
    private int largestBatch;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            defaultValue = "1",
            description = "for each figure (default: ${DEFAULT-VALUE})")
    private double seconds;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "of the records' order (default: ${DEFAULT-VALUE})")
    private long seed;

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    /**
     * @param separate operations/s, posted one by one
     * @param list the same with lists of {@code --queue-depth} work requests
     */
    private record OneSided(CacheBench.Latency latency, double separate, double list) {}

    /**
     * @param batch requests in a batch, 1 if records are too large for batches
     * @param batched operations/s in batches, which a server thread executes; 0 without batches
     * @param together the same if the application asks for a batch full of records with one request
     */
    private record Row(
            String operation, int size, long span, OneSided oneSided, int batch, double batched, double together) {
        /** Returns the factor of a rate over the one of single one-sided operations: Redy's "raw network". */
        double gain(double rate) {
            return rate / oneSided.separate();
        }
    }

    @Override
    public Integer call() throws InterruptedException, IOException {
        checkOptions();
        output.check();
        against.check(output);
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.CACHE);
            return 0;
        }
        // The device stays open until all is written: if it is softverbs, its last close ends an invalid run.
        try (Context context = Devices.open()) {
            if (depth == 0) {
                depth = Math.min(DEFAULT_DEPTH, Connection.maxDepth(context.limits()));
            }
            run(output.report(spec, context), context.device().name());
        }
        return 0;
    }

    private void run(BenchReport report, String device) {
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        out.printf(
                """
            one session, configurations (c, s, b, q) by Redy's names. Latency: %s, blocking, begun when due, at half of the session's throughput,
            less the clock's cost; idle: the same loop without an operation. Throughput without server threads: %s, posted one by one (single) and by
            one list; with one: %s, asked for one by one (batched) and a batch full by one request (readAll, writeAll).
            in flight: how long a record is on its way in the former, on average (records in flight / throughput)

            """,
                latencyConfiguration(),
                latencyConfiguration(),
                CacheConfiguration.DIRECT
                        .with(0, 1, largestBatch, batches)
                        .toString()
                        .replace("b " + largestBatch, "b as below"));
        out.printf(
                "%-6s%9s%8s%10s%11s%11s%12s%10s%12s%12s%13s%13s%8s%13s%8s%13s%8s%15s%n",
                "#op",
                "#bytes",
                "span",
                "p50[ns]",
                "p99",
                "p99.9",
                "max",
                "tail",
                "idle p99.9",
                "idle max",
                "single[M/s]",
                "list[M/s]",
                "b",
                "batched[M/s]",
                "/single",
                "readAll[M/s]",
                "/single",
                "in flight[us]");
        List<Row> rows = new ArrayList<>();
        for (long span : spans) {
            long memory = 3 * Math.ceilDiv(span, REGION_BYTES) * REGION_BYTES;
            try (FirstCore thread = new FirstCore(device);
                    ServerProcess server = ServerProcess.start(Devices.library(), memory, REGION_BYTES);
                    CacheBench separate =
                            new CacheBench(server.address(), span, MAX_RECORD, latencyConfiguration(), depth, 1, 1);
                    CacheBench lists = new CacheBench(
                            server.address(), span, MAX_RECORD, latencyConfiguration(), depth, depth, 1)) {
                for (long size : sizes) {
                    for (String name : names) {
                        boolean write = name.equals("write");
                        OneSided oneSided = thread.run(() -> measure(write, (int) size, span, separate, lists));
                        double batched = batched(thread, server.address(), write, span, (int) size, 1);
                        double together = batched(
                                thread, server.address(), write, span, (int) size, Integer.highestOneBit(batch(size)));
                        rows.add(new Row(name, (int) size, span, oneSided, batch(size), batched, together));
                        print(out, rows.getLast());
                    }
                }
            }
        }
        rows.forEach(row -> put(report.row(), row));
        output.write(report, output.plots() ? plots(rows) : new Plot[0]);
    }

    private CacheConfiguration latencyConfiguration() {
        return CacheConfiguration.DIRECT.withQueueDepth(depth);
    }

    /** Redy's b. */
    private int batch(long size) {
        return Math.clamp(RingShape.PAYLOAD_BYTES / size, 1, largestBatch);
    }

    /**
     * @param together how many records the application asks for with one request
     * @return operations/s; 0 if records are too large for batches
     */
    private double batched(FirstCore thread, String server, boolean write, long span, int size, int together) {
        int batch = batch(size);
        if (batch == 1) {
            return 0;
        }
        // One batch is filled while the others are on their way.
        try (CacheBench bench = new CacheBench(
                server,
                span,
                size,
                CacheConfiguration.DIRECT.with(0, 1, batch, batches),
                batch * (batches + 1),
                1,
                together)) {
            return thread.run(() -> {
                bench.scatter(span, size, seed);
                return bench.throughput(write, size, seconds);
            });
        }
    }

    private OneSided measure(boolean write, int size, long span, CacheBench separate, CacheBench lists) {
        separate.scatter(span, size, seed);
        lists.scatter(span, size, seed);
        return new OneSided(
                separate.latency(write, size, seconds),
                separate.throughput(write, size, seconds),
                lists.throughput(write, size, seconds));
    }

    private void checkOptions() {
        for (String name : names) {
            if (!name.equals("read") && !name.equals("write")) {
                throw new IllegalArgumentException("--op " + name + ": it must be read or write");
            }
        }
        for (long size : sizes) {
            if (size < 1 || size > MAX_RECORD) {
                throw new IllegalArgumentException(
                        "--size " + size + ": it must be from 1 to " + MAX_RECORD + " bytes");
            }
            for (long span : spans) {
                if (span < size) {
                    throw new IllegalArgumentException(
                            "--span " + span + ": it must hold a record of " + size + " bytes");
                }
            }
        }
        if (depth < 0 || depth > MAX_DEPTH) {
            throw new IllegalArgumentException("--queue-depth " + depth + ": it must be from 1 to " + MAX_DEPTH);
        }
        if (batches < 1 || batches > MAX_DEPTH) {
            throw new IllegalArgumentException("--batches " + batches + ": it must be from 1 to " + MAX_DEPTH);
        }
        if (largestBatch < 1
                || largestBatch > RingShape.MAX_BATCH
                || (long) largestBatch * (batches + 1) > MAX_IN_FLIGHT) {
            throw new IllegalArgumentException(
                    "--batch " + largestBatch + ": it must be from 1 to " + RingShape.MAX_BATCH
                            + ", and with --batches " + batches + " at most " + MAX_IN_FLIGHT / (batches + 1));
        }
        if (!(seconds > 0)) {
            throw new IllegalArgumentException("--seconds " + seconds + ": it must be more than 0");
        }
    }

    private void print(PrintStream out, Row row) {
        Histogram operation = row.oneSided().latency().operation();
        Histogram idle = row.oneSided().latency().idle();
        out.printf(
                Locale.ROOT,
                "%-6s%9d%8s%10d%11d%11d%12d%10.1f%12d%12d%13.2f%13.2f",
                row.operation(),
                row.size(),
                Sizes.format(row.span()).replace(" ", ""),
                operation.getValueAtPercentile(50),
                operation.getValueAtPercentile(99),
                operation.getValueAtPercentile(99.9),
                operation.getMaxValue(),
                tail(operation),
                idle.getValueAtPercentile(99.9),
                idle.getMaxValue(),
                row.oneSided().separate() / 1e6,
                row.oneSided().list() / 1e6);
        if (row.batch() > 1) {
            out.printf(
                    Locale.ROOT,
                    "%8d%13.2f%8.1f%13.2f%8.1f%15.1f",
                    row.batch(),
                    row.batched() / 1e6,
                    row.gain(row.batched()),
                    row.together() / 1e6,
                    row.gain(row.together()),
                    batchMicros(row));
        }
        out.println();
    }

    private double batchMicros(Row row) {
        return row.batch() * (batches + 1) * 1e6 / row.batched();
    }

    private static double tail(Histogram histogram) {
        return (double) histogram.getValueAtPercentile(99.9) / Math.max(1, histogram.getValueAtPercentile(50));
    }

    private void put(BenchReport.Row json, Row row) {
        Histogram operation = row.oneSided().latency().operation();
        Histogram idle = row.oneSided().latency().idle();
        json.put("op", row.operation())
                .put("size", row.size())
                .put("span", row.span())
                .put("p50_ns", operation.getValueAtPercentile(50))
                .put("p99_ns", operation.getValueAtPercentile(99))
                .put("p999_ns", operation.getValueAtPercentile(99.9))
                .put("max_ns", operation.getMaxValue())
                .put("p999_over_p50", tail(operation))
                .put("idle_p999_ns", idle.getValueAtPercentile(99.9))
                .put("idle_max_ns", idle.getMaxValue())
                .put("ops_per_s", row.oneSided().separate())
                .put("list_ops_per_s", row.oneSided().list())
                .put("queue_depth", depth);
        if (row.batch() > 1) {
            json.put("batch", row.batch())
                    .put("batches", batches)
                    .put("batched_ops_per_s", row.batched())
                    .put("batched_over_single", row.gain(row.batched()))
                    .put("batched_all_ops_per_s", row.together())
                    .put("batched_all_over_single", row.gain(row.together()))
                    .put("batched_in_flight_us", batchMicros(row));
        }
    }

    private Plot[] plots(List<Row> rows) {
        Plot latency = Plot.lines("cache-latency", "Latency of one record at half load", "record bytes", "ns")
                .logarithmicX()
                .logarithmicY();
        Plot throughput = Plot.lines(
                        "cache-throughput", "Throughput of one session", "record bytes", "million records/s")
                .logarithmicX()
                .logarithmicY();
        for (String name : names) {
            List<Row> some = rows.stream()
                    .filter(row -> row.operation().equals(name) && row.span() == spans.getFirst())
                    .toList();
            double[] x = some.stream().mapToDouble(Row::size).toArray();
            latency.series(
                    name + " p50",
                    x,
                    some.stream()
                            .mapToDouble(
                                    row -> row.oneSided().latency().operation().getValueAtPercentile(50))
                            .toArray());
            latency.series(
                    name + " p99.9",
                    x,
                    some.stream()
                            .mapToDouble(
                                    row -> row.oneSided().latency().operation().getValueAtPercentile(99.9))
                            .toArray());
            throughput.series(
                    name,
                    x,
                    some.stream()
                            .mapToDouble(row -> row.oneSided().separate() / 1e6)
                            .toArray());
            throughput.series(
                    name + ", lists",
                    x,
                    some.stream()
                            .mapToDouble(row -> row.oneSided().list() / 1e6)
                            .toArray());
            List<Row> small = some.stream().filter(row -> row.batch() > 1).toList();
            if (!small.isEmpty()) {
                double[] smallX = small.stream().mapToDouble(Row::size).toArray();
                throughput.series(
                        name + ", batches and a server thread",
                        smallX,
                        small.stream().mapToDouble(row -> row.batched() / 1e6).toArray());
                throughput.series(
                        name + "All, the same",
                        smallX,
                        small.stream().mapToDouble(row -> row.together() / 1e6).toArray());
            }
        }
        return new Plot[] {latency, throughput};
    }
}
