package io.farheap.bench.raw;

import io.farheap.bench.against.AgainstOptions;
import io.farheap.bench.against.ComparedRows;
import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.connection.Connection;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench raw}: measures what Java costs over C, on the same device in the same run. */
@Command(
        name = "raw",
        mixinStandardHelpOptions = true,
        description =
                "One-sided operations from Java and from a C loop, on the same device in the same process, taking turns.",
        footer = {
            "",
            "With --regions sessions alone are measured: each accesses the same addresses at random, one operation after the other, in caches of one size whose servers divide them into so many regions. It takes 64 KiB of memory for each of the most regions, once for each number of them."
        })
public final class BenchRawCommand implements Callable<Integer> {

    private static final long REGION_BYTES = 1 << 20;
    private static final int REGIONS = 4;
    private static final int USUAL_DEPTH = 16;

    @Option(
            names = "--op",
            split = ",",
            paramLabel = "OP",
            defaultValue = "read,write,cas,faa",
            description = "read, write, cas, faa (default: ${DEFAULT-VALUE}; with --regions read,write, which are all)")
    private List<String> names;

    @Option(
            names = "--size",
            split = ",",
            paramLabel = "BYTES",
            converter = Sizes.class,
            defaultValue = "8,64,512,4096,32k,256k,1m",
            description =
                    "payload sizes of reads and writes, up to 1m (default: ${DEFAULT-VALUE}; with --regions 8, up to 4096)")
    private List<Long> sizes;

    @Option(
            names = {"-t", "--queue-depth"},
            split = ",",
            paramLabel = "Q",
            description =
                    "operations in flight; above 1 they are posted one by one, and once more all by one list (default: 1 and 16, or the device's most)")
    private @Nullable List<Integer> givenDepths;

    private List<Integer> depths = List.of();

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "100",
            description = "how often each side takes its turn, rounded up so that each has each place equally often "
                    + "(default: ${DEFAULT-VALUE})")
    private int turns;

    @Option(
            names = "--jvms",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "JVMs to measure in, one after the other; the figures are the medians over them (default: ${DEFAULT-VALUE})")
    private int jvms;

    @Option(
            names = "--regions",
            split = ",",
            paramLabel = "N",
            description =
                    "instead, the time of an access by the number of regions of one server: powers of two, such as 64,256,512,4096")
    private @Nullable List<Integer> regions;

    @Option(
            names = "--sessions",
            split = ",",
            paramLabel = "N",
            description = "with --regions, how many sessions at a time, with a thread each (default: 1,4)")
    private @Nullable List<Integer> givenSessions;

    @Mixin
    private BenchOutput output;

    @Mixin
    private AgainstOptions against;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        List<Integer> counts = regions;
        if (counts != null) {
            return new RawRegionsReport(spec, output, against).run(regionsPlan(counts), turns);
        }
        if (givenSessions != null) {
            throw new IllegalArgumentException("--sessions: it is for --regions, which is not there");
        }
        int deepest;
        try (Context context = Devices.open()) {
            deepest = Connection.maxDepth(context.limits());
        }
        depths = givenDepths != null ? givenDepths : List.of(1, Math.min(USUAL_DEPTH, deepest));
        List<RawOperation> operations = checkOptions(deepest);
        output.check();
        against.check(output);
        DeviceNotice.print(spec.commandLine().getErr());
        if (against.wanted()) {
            against.compare(spec, output, ComparedRows.RAW);
            return 0;
        }
        PrintStream out = System.out;
        try (ServerProcess server = ServerProcess.start(Devices.library(), REGIONS * REGION_BYTES, REGION_BYTES)) {
            // The device stays open until all is printed: if it is softverbs, its last close ends an invalid run.
            try (RawTarget target = new RawTarget(server.address(), (int) REGION_BYTES, Collections.max(depths))) {
                BenchReport report = output.report(spec, target.context());
                TimingNote note = new TimingNote(ClockCost.nanos(), true, true);
                note.put(report);
                List<RawRow> rows =
                        jvms > 1 ? RawJvms.measure(jvms, arguments()) : measure(server.address(), target, operations);
                report.origin().forEach(out::println);
                out.printf(
                        "one remote address for each side, hot; medians of at least %d turns%s, whose order rotates; ns per operation; p99 of single operations%n%s%n%n",
                        turns, jvms > 1 ? " and of " + jvms + " JVMs" : "", note.sentence());
                print(out, rows);
                rows.forEach(row -> row.put(report.row(), report.device()));
                output.write(report, output.plots() ? plots(rows) : new Plot[0]);
            }
        }
        return 0;
    }

    private RawRegionsReport.Plan regionsPlan(List<Integer> counts) {
        if (givenDepths != null || jvms != 1) {
            throw new IllegalArgumentException(
                    "--regions: with it operations follow one another in this JVM; leave out --queue-depth and --jvms");
        }
        boolean opGiven = spec.commandLine().getParseResult().hasMatchedOption("--op");
        boolean sizeGiven = spec.commandLine().getParseResult().hasMatchedOption("--size");
        checkTurns();
        return RawRegionsReport.plan(
                opGiven ? operations() : List.of(RawOperation.READ, RawOperation.WRITE),
                sizeGiven ? sizes : List.of((long) Long.BYTES),
                counts,
                givenSessions != null ? givenSessions : List.of(1, 4));
    }

    private List<RawRow> measure(String server, RawTarget target, List<RawOperation> operations) {
        List<RawRow> rows = new ArrayList<>();
        try (ModelLateness lateness = new ModelLateness(server)) {
            for (int depth : depths) {
                for (int list : depth == 1 ? new int[] {1} : new int[] {1, depth}) {
                    try (RawContest contest = new RawContest(server, target, (int) REGION_BYTES, depth, list)) {
                        for (RawOperation operation : operations) {
                            for (long size : operation.atomic() ? List.of((long) Long.BYTES) : sizes) {
                                rows.add(contest.measure(operation, (int) size, turns, lateness));
                            }
                        }
                    }
                }
            }
        }
        return rows;
    }

    private List<RawOperation> operations() {
        List<RawOperation> operations = new ArrayList<>();
        for (String name : names) {
            operations.add(Arrays.stream(RawOperation.values())
                    .filter(operation -> operation.text().equals(name))
                    .findAny()
                    .orElseThrow(() -> new IllegalArgumentException("--op " + name + ": it must be one of "
                            + Arrays.stream(RawOperation.values())
                                    .map(RawOperation::text)
                                    .collect(Collectors.joining(", ")))));
        }
        return operations;
    }

    private void checkTurns() {
        if (turns < 1) {
            throw new IllegalArgumentException("--turns " + turns + ": it must be at least 1");
        }
    }

    private List<RawOperation> checkOptions(int deepest) {
        List<RawOperation> operations = operations();
        for (long size : sizes) {
            if (size < 1 || size > REGION_BYTES) {
                throw new IllegalArgumentException(
                        "--size " + size + ": it must be from 1 to " + REGION_BYTES + " bytes");
            }
        }
        for (int depth : depths) {
            if (depth < 1 || depth > deepest) {
                throw new IllegalArgumentException("--queue-depth " + depth + ": it must be from 1 to " + deepest
                        + ", the limit of a session on this device");
            }
        }
        checkTurns();
        if (jvms < 1) {
            throw new IllegalArgumentException("--jvms " + jvms + ": it must be at least 1");
        }
        return operations;
    }

    private List<String> arguments() {
        return List.of(
                "bench",
                "raw",
                "--op",
                String.join(",", names),
                "--size",
                sizes.stream().map(String::valueOf).collect(Collectors.joining(",")),
                "--queue-depth",
                depths.stream().map(String::valueOf).collect(Collectors.joining(",")),
                "--turns",
                Integer.toString(turns));
    }

    private static void print(PrintStream out, List<RawRow> rows) {
        out.printf(
                "%-6s%10s%7s%6s%12s%17s%8s%12s%8s%12s%17s%8s%12s%8s%9s%9s%11s%11s%7s%n",
                "#op",
                "#bytes",
                "depth",
                "list",
                "C loop",
                "(25%..75%)",
                "p99",
                "Java verbs",
                "ratio",
                "session",
                "(25%..75%)",
                "ratio",
                "untracked",
                "ratio",
                "-C [ns]",
                "p99",
                "C [M/s]",
                "Java[M/s]",
                "ratio");
        for (RawRow row : rows) {
            out.printf(
                    Locale.ROOT,
                    "%-6s%10d%7d%6d%12.1f%17s%8s%12.1f%8s%12s%17s%8s%12s%8s%9s%9s%11.2f%11.2f%7s  %s%n",
                    row.operation().text(),
                    row.size(),
                    row.depth(),
                    row.list(),
                    row.raw().median(),
                    spread(row.raw()),
                    number(row.rawP99(), 0),
                    row.verbs().median(),
                    number(row.ratio(row.verbs()), 2),
                    number(row.session().median(), 1),
                    spread(row.session()),
                    number(row.ratio(row.session()), 2),
                    number(row.untracked().median(), 1),
                    number(row.ratio(row.untracked()), 2),
                    number(row.difference(), 1),
                    number(row.javaP99(), 0),
                    1e3 / row.raw().median(),
                    1e3 / row.java().median(),
                    number(row.rateRatio(), 2),
                    row.validity().remark(row.settled()));
        }
    }

    private static String number(double value, int decimals) {
        return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%." + decimals + "f", value);
    }

    private static String spread(Quartiles side) {
        return side.known() ? String.format(Locale.ROOT, "(%.1f..%.1f)", side.low(), side.high()) : "-";
    }

    /** A plot compares the sides, so it is of valid rows. */
    private Plot[] plots(List<RawRow> rows) {
        List<Plot> plots = new ArrayList<>();
        for (String name : names) {
            List<RawRow> some = rows.stream()
                    .filter(row ->
                            row.operation().text().equals(name) && row.depth() == depths.getFirst() && row.list() == 1)
                    .filter(row -> !row.validity().invalid())
                    .toList();
            if (some.size() > 1) {
                double[] x = some.stream().mapToDouble(RawRow::size).toArray();
                plots.add(Plot.lines(
                                "raw-" + name, name + ", queue depth " + depths.getFirst(), "bytes", "ns per operation")
                        .logarithmicX()
                        .logarithmicY()
                        .series("C loop", x, medians(some, RawRow::raw))
                        .series("Java verbs", x, medians(some, RawRow::verbs))
                        .series("Java session", x, medians(some, RawRow::java)));
            }
        }
        return plots.toArray(Plot[]::new);
    }

    private static double[] medians(List<RawRow> rows, Function<RawRow, Quartiles> side) {
        return rows.stream().mapToDouble(row -> side.apply(row).median()).toArray();
    }
}
