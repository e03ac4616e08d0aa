package io.farheap.bench.ablation;

import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.thread.Cores;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code farheap bench ablation}: measures what each optimisation of Redy's section 4.3 is worth (its figures 7 and 8).
 */
@Command(
        name = "ablation",
        mixinStandardHelpOptions = true,
        description = "Latency and throughput of one application thread, with one optimisation more in each row.")
public final class BenchAblationCommand implements Callable<Integer> {

    private static final long REGION_BYTES = 16 << 20;
    private static final int MAX_RECORD = 2048;
    private static final int MAX_OUTSTANDING = 256;

    @Option(
            names = "--op",
            split = ",",
            paramLabel = "OP",
            defaultValue = "read,write",
            description = "read, write (default: ${DEFAULT-VALUE})")
    private List<String> names;

    @Option(
            names = "--size",
            paramLabel = "BYTES",
            converter = Sizes.class,
            defaultValue = "8",
            description = "of a record, up to 2k (default: ${DEFAULT-VALUE})")
    private long size;

    @Option(
            names = "--span",
            paramLabel = "BYTES",
            converter = Sizes.class,
            defaultValue = "64m",
            description = "how far records are scattered; Redy's is 1g (default: ${DEFAULT-VALUE})")
    private long span;

    @Option(
            names = "--outstanding",
            paramLabel = "N",
            defaultValue = "4",
            description = "requests under way (default: ${DEFAULT-VALUE})")
    private int outstanding;

    @Option(
            names = {"-t", "--queue-depth"},
            paramLabel = "Q",
            defaultValue = "4",
            description = "of the step with a queue (default: ${DEFAULT-VALUE})")
    private int depth;

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "5",
            description = "turns that the steps take, of which the medians are shown (default: ${DEFAULT-VALUE})")
    private int turns;

    @Option(
            names = "--seconds",
            paramLabel = "S",
            defaultValue = "0.3",
            description = "for each turn of a step (default: ${DEFAULT-VALUE})")
    private double seconds;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "of the records' order (default: ${DEFAULT-VALUE})")
    private long seed;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    /** One figure of each turn. */
    private record Row(String operation, AblationStep step, double p50, double p99, double rate) {}

    @Override
    public Integer call() throws InterruptedException {
        checkOptions();
        output.check();
        DeviceNotice.print(spec.commandLine().getErr());
        // The device stays open until all is written: if it is softverbs, its last close ends an invalid run.
        try (Context context = Devices.open()) {
            run(output.report(spec, context), Cores.near(context.device().name()));
        }
        return 0;
    }

    private void run(BenchReport report, List<Integer> cores) throws InterruptedException {
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        out.printf(
                "%d-byte records, %d under way; a client thread, the bench's own but in the row \"the library's\", issues%n"
                        + "the requests that an application thread hands over to it; a server's thread,%n"
                        + "if there is one, is always pinned. Threads that find nothing to do yield their core after a while; there %s for them%n%n",
                size, outstanding, cores.size() == 1 ? "is 1 core" : "are " + cores.size() + " cores");
        List<Row> rows = measure(cores);
        print(out, rows);
        put(report, rows);
        output.write(report, output.plots() ? plots(rows) : new Plot[0]);
    }

    private List<Row> measure(List<Integer> cores) throws InterruptedException {
        List<AblationStep> steps = AblationStep.all(depth);
        List<Row> rows = new ArrayList<>();
        try (ServerProcess server =
                ServerProcess.start(Devices.library(), Math.ceilDiv(span, REGION_BYTES) * REGION_BYTES, REGION_BYTES)) {
            Ablation ablation = new Ablation(server.address(), cores, span, (int) size, outstanding, seed);
            for (String name : names) {
                List<List<Ablation.Result>> results = new ArrayList<>();
                steps.forEach(step -> results.add(new ArrayList<>()));
                for (int turn = 0; turn < turns; turn++) {
                    for (int i = 0; i < steps.size(); i++) {
                        results.get(i)
                                .add(ablation.measure(steps.get(i), name.equals("write"), (long) (seconds * 1e9)));
                    }
                }
                for (int i = 0; i < steps.size(); i++) {
                    rows.add(new Row(
                            name,
                            steps.get(i),
                            median(results.get(i), result -> result.latency().getValueAtPercentile(50)),
                            median(results.get(i), result -> result.latency().getValueAtPercentile(99)),
                            median(results.get(i), Ablation.Result::operationsPerSecond)));
                }
            }
        }
        return rows;
    }

    private static double median(List<Ablation.Result> results, ToDoubleFunction<Ablation.Result> figure) {
        double[] sorted = results.stream().mapToDouble(figure).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    private void checkOptions() {
        for (String name : names) {
            if (!name.equals("read") && !name.equals("write")) {
                throw new IllegalArgumentException("--op " + name + ": it must be read or write");
            }
        }
        check("--size", size, MAX_RECORD);
        check("--outstanding", outstanding, MAX_OUTSTANDING);
        check("--queue-depth", depth, MAX_OUTSTANDING);
        check("--turns", turns, Integer.MAX_VALUE);
        if (span < size) {
            throw new IllegalArgumentException("--span " + span + ": it must hold a record of " + size + " bytes");
        }
        if (!(seconds > 0)) {
            throw new IllegalArgumentException("--seconds " + seconds + ": it must be more than 0");
        }
    }

    private static void check(String option, long value, long most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException(option + " " + value + ": it must be from 1 to " + most);
        }
    }

    private static void print(PrintStream out, List<Row> rows) {
        out.printf(
                "%-6s  %-20s%16s%12s%12s%13s%14s%n",
                "#op", "step", "(c, s, b, q)", "p50[ns]", "p99[ns]", "million/s", "/ the one above");
        Row before = null;
        for (Row row : rows) {
            out.printf(
                    Locale.ROOT,
                    "%-6s  %-20s%16s%12.0f%12.0f%13.3f",
                    row.operation(),
                    row.step().name(),
                    describe(row.step()),
                    row.p50(),
                    row.p99(),
                    row.rate() / 1e6);
            out.println(
                    before == null || !before.operation().equals(row.operation())
                            ? ""
                            : String.format(Locale.ROOT, "%14.2f", row.rate() / before.rate()));
            before = row;
        }
    }

    /** Describes a step in Redy's terms: requests are handed over to one client thread, and each travels by itself. */
    private static String describe(AblationStep step) {
        return "(" + (step.by() == AblationStep.Issuer.ITSELF ? 0 : 1) + ", " + (step.oneSided() ? 0 : 1) + ", 1, "
                + step.configuration().queueDepth() + ")";
    }

    private void put(BenchReport report, List<Row> rows) {
        for (Row row : rows) {
            AblationStep step = row.step();
            report.row()
                    .put("op", row.operation())
                    .put("size", size)
                    .put("span", span)
                    .put("step", step.name())
                    .put("issued_by", step.by().name().toLowerCase(Locale.ROOT))
                    .put("one_sided", step.oneSided())
                    .put("queue_depth", step.configuration().queueDepth())
                    .put("pinned", step.configuration().pinned())
                    .put("inline_bytes", step.configuration().inlineBytes())
                    .put("outstanding", outstanding)
                    .put("p50_ns", row.p50())
                    .put("p99_ns", row.p99())
                    .put("ops_per_s", row.rate());
        }
    }

    private Plot[] plots(List<Row> rows) {
        Plot latency = Plot.bars("ablation-latency", "Latency with one optimisation more in each group", "", "ns")
                .logarithmicY();
        Plot throughput = Plot.bars(
                "ablation-throughput",
                "Throughput with one optimisation more in each group",
                "",
                "million operations/s");
        for (String name : names) {
            List<Row> some =
                    rows.stream().filter(row -> row.operation().equals(name)).toList();
            List<String> steps = some.stream().map(row -> row.step().name()).toList();
            latency.series(name + " p50", steps, some.stream().map(Row::p50).toList());
            latency.series(name + " p99", steps, some.stream().map(Row::p99).toList());
            throughput.series(
                    name, steps, some.stream().map(row -> row.rate() / 1e6).toList());
        }
        return new Plot[] {latency, throughput};
    }
}
