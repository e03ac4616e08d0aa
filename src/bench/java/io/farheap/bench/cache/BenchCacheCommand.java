package io.farheap.bench.cache;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.machine.FirstCore;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
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
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
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

    private static final int DEFAULT_DEPTH = 16;
    private static final int MAX_DEPTH = 1024;
    private static final int MAX_IN_FLIGHT = 1 << 16;
    private static final int MAX_TURNS = 1000;

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
            description = "for the latency, and for each rate in all of its turns (default: ${DEFAULT-VALUE})")
    private double seconds;

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "8",
            description =
                    "turns of each rate, at least: as many as complete their rotation (default: ${DEFAULT-VALUE})")
    private int turns;

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
            int most = Math.min(DEFAULT_DEPTH, Connection.maxDepth(context.limits()));
            run(
                    output.report(spec, context),
                    context.device().name(),
                    new CacheContest.Shape(depth == 0 ? most : depth, largestBatch, batches, seconds, turns, seed));
        }
        return 0;
    }

    private void run(BenchReport report, String device, CacheContest.Shape shape) {
        PrintStream out = System.out;
        TimingNote note = new TimingNote(ClockCost.nanos(), true, false);
        note.put(report);
        report.origin().forEach(out::println);
        out.printf(
                """
            one session, configurations (c, s, b, q) by Redy's names. Latency: %s, blocking, begun when due, at half of the session's throughput,
            less the clock's cost; idle: the same loop without an operation. Throughput without server threads: %s, posted one by one (single), by
            one list, and by one list for which one request asks (listAll); with one: %s, asked for one by one (batched) and a batch full by one request
            (readAll, writeAll).
            Rates are medians of %d turns or more, whose order rotates. /best: over the better one of single and list, which keep one core busy; batches
            keep two. /listAll: over the one-sided rate of records that are asked for by groups, too.
            in flight: how long a record is on its way in the former, on average (records in flight / throughput)
            latency: %s

            """,
                shape.oneSided(),
                shape.oneSided(),
                shape.batched(largestBatch).toString().replace("b " + largestBatch, "b as below"),
                turns,
                note.sentence());
        out.printf(
                "%-6s%9s%8s%10s%11s%11s%12s%10s%12s%12s%13s%16s%13s%16s%14s%8s%13s%8s%13s%8s%10s%15s%n",
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
                "(25%..75%)",
                "list[M/s]",
                "(25%..75%)",
                "listAll[M/s]",
                "b",
                "batched[M/s]",
                "/best",
                "readAll[M/s]",
                "/best",
                "/listAll",
                "in flight[us]");
        List<CacheRow> rows = new ArrayList<>();
        for (long span : spans) {
            try (FirstCore thread = new FirstCore(device);
                    CacheContest contest = new CacheContest(thread, span, shape)) {
                for (long size : sizes) {
                    for (String name : names) {
                        CacheRow row = contest.measure(name, (int) size);
                        rows.add(row);
                        print(out, row);
                    }
                }
            }
        }
        rows.forEach(row -> row.put(report.row()));
        output.write(report, output.plots() ? plots(rows) : new Plot[0]);
    }

    private void checkOptions() {
        for (String name : names) {
            if (!name.equals("read") && !name.equals("write")) {
                throw new IllegalArgumentException("--op " + name + ": it must be read or write");
            }
        }
        for (long size : sizes) {
            if (size < 1 || size > CacheContest.MAX_RECORD) {
                throw new IllegalArgumentException(
                        "--size " + size + ": it must be from 1 to " + CacheContest.MAX_RECORD + " bytes");
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
        if (turns < 1 || turns > MAX_TURNS) {
            throw new IllegalArgumentException("--turns " + turns + ": it must be from 1 to " + MAX_TURNS);
        }
        if (!(seconds > 0)) {
            throw new IllegalArgumentException("--seconds " + seconds + ": it must be more than 0");
        }
    }

    private static void print(PrintStream out, CacheRow row) {
        Histogram operation = row.latency().operation();
        Histogram idle = row.latency().idle();
        out.printf(
                Locale.ROOT,
                "%-6s%9d%8s%10d%11d%11d%12d%10s%12d%12d%13.2f%16s%13.2f%16s%14.2f",
                row.operation(),
                row.size(),
                Sizes.format(row.span()).replace(" ", ""),
                operation.getValueAtPercentile(50),
                operation.getValueAtPercentile(99),
                operation.getValueAtPercentile(99.9),
                operation.getMaxValue(),
                ratio(row.tail()),
                idle.getValueAtPercentile(99.9),
                idle.getMaxValue(),
                row.single().median() / 1e6,
                spread(row.single()),
                row.list().median() / 1e6,
                spread(row.list()),
                row.listAll().median() / 1e6);
        CacheRow.Batches batched = row.batches();
        if (batched != null) {
            out.printf(
                    Locale.ROOT,
                    "%8d%13.2f%8s%13.2f%8s%10s%15.1f",
                    batched.requests(),
                    batched.asked().median() / 1e6,
                    ratio(row.overBest(batched.asked())),
                    batched.together().median() / 1e6,
                    ratio(row.overBest(batched.together())),
                    ratio(row.overListAll(batched.together())),
                    batched.inFlightMicros());
        }
        out.println("  " + row.validity().remark(row.settled()));
    }

    private static String ratio(double value) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%.1f", value);
    }

    private static String spread(Quartiles rate) {
        return String.format(Locale.ROOT, "(%.2f..%.2f)", rate.low() / 1e6, rate.high() / 1e6);
    }

    /** A plot compares the rates, so it is of valid rows; none if there are none. */
    private Plot[] plots(List<CacheRow> all) {
        List<CacheRow> rows =
                all.stream().filter(row -> !row.validity().invalid()).toList();
        if (rows.isEmpty()) {
            return new Plot[0];
        }
        Plot latency = Plot.lines("cache-latency", "Latency of one record at half load", "record bytes", "ns")
                .logarithmicX()
                .logarithmicY();
        Plot throughput = Plot.lines(
                        "cache-throughput", "Throughput of one session", "record bytes", "million records/s")
                .logarithmicX()
                .logarithmicY();
        for (String name : names) {
            List<CacheRow> some = rows.stream()
                    .filter(row -> row.operation().equals(name) && row.span() == spans.getFirst())
                    .toList();
            draw(latency, name + " p50", some, row -> latency(row, 50));
            draw(latency, name + " p99.9", some, row -> latency(row, 99.9));
            draw(throughput, name, some, row -> row.single().median() / 1e6);
            draw(throughput, name + ", lists", some, row -> row.list().median() / 1e6);
            draw(throughput, name + "All, lists", some, row -> row.listAll().median() / 1e6);
            draw(
                    throughput,
                    name + ", batches and a server thread",
                    some,
                    row -> batched(row, CacheRow.Batches::asked));
            draw(
                    throughput,
                    name + "All, batches and a server thread",
                    some,
                    row -> batched(row, CacheRow.Batches::together));
        }
        return new Plot[] {latency, throughput};
    }

    private static double latency(CacheRow row, double percentile) {
        return (double) row.latency().operation().getValueAtPercentile(percentile);
    }

    /** Returns million records/s; NaN if the row has no batches. */
    private static double batched(CacheRow row, Function<CacheRow.Batches, Quartiles> rate) {
        CacheRow.Batches batches = row.batches();
        return batches == null ? Double.NaN : rate.apply(batches).median() / 1e6;
    }

    /** Draws a series of the rows that have the figure. */
    private static void draw(Plot plot, String title, List<CacheRow> rows, ToDoubleFunction<CacheRow> figure) {
        List<CacheRow> some = rows.stream()
                .filter(row -> !Double.isNaN(figure.applyAsDouble(row)))
                .toList();
        if (!some.isEmpty()) {
            plot.series(
                    title,
                    some.stream().mapToDouble(CacheRow::size).toArray(),
                    some.stream().mapToDouble(figure).toArray());
        }
    }
}
