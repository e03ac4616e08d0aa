package io.farheap.bench.ablation;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TimingNote;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Plot;
import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.memory.Plurals;
import io.farheap.thread.Cores;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
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
    /** Turns of a warm-up that does not settle before. */
    private static final int MOST_WARM_UPS = 6;

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
            defaultValue = "8",
            description = "turns of each step; a multiple of 8 completes the rotation (default: ${DEFAULT-VALUE})")
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
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        report.origin().forEach(out::println);
        out.printf(
                "%d-byte records, %d under way; a client thread, the bench's own but in the row \"the library's\", issues%n"
                        + "the requests that an application thread hands over to it; a server's thread,%n"
                        + "if there is one, is always pinned. Threads that find nothing to do yield their core after a while; there %s for them.%n"
                        + "Medians of %s, whose order rotates; %s%n%n",
                size,
                outstanding,
                cores.size() == 1 ? "is 1 core" : "are " + cores.size() + " cores",
                Plurals.of(counted(), "turn"),
                note.sentence());
        List<AblationRow> rows = measure(cores);
        print(out, rows);
        put(report, rows);
        output.write(report, output.plots() ? plots(rows) : new Plot[0]);
    }

    private int counted() {
        return Rotation.turns(AblationStep.all(depth).size(), turns);
    }

    private List<AblationRow> measure(List<Integer> cores) throws InterruptedException {
        List<AblationStep> steps = AblationStep.all(depth);
        List<AblationRow> rows = new ArrayList<>();
        try (ServerProcess server = ServerProcess.start(
                        Devices.library(), Math.ceilDiv(span, REGION_BYTES) * REGION_BYTES, REGION_BYTES);
                ModelLateness lateness = new ModelLateness(server.address())) {
            Ablation ablation = new Ablation(server.address(), cores, span, (int) size, outstanding, seed);
            for (String name : names) {
                AblationTurns contest = new AblationTurns(
                        step -> turn(ablation, step, name.equals("write"), lateness),
                        outstanding,
                        (int) size,
                        cores.size());
                rows.addAll(contest.take(name, steps, warmUp(steps.size()), turns));
            }
        }
        return rows;
    }

    /** A turn's operations are judged without those of its own warm-up. */
    private AblationTurns.Turn turn(Ablation ablation, AblationStep step, boolean write, ModelLateness lateness)
            throws InterruptedException {
        Ablation.Result result = ablation.measure(step, write, (long) (seconds * 1e9), lateness::restart);
        return new AblationTurns.Turn(
                result.latency().getValueAtPercentile(50),
                result.latency().getValueAtPercentile(99),
                result.operationsPerSecond(),
                lateness.since());
    }

    /** Takes fewer turns than those that count: a run of one turn only shows that the benchmark works. */
    private TurnWarmUp warmUp(int steps) {
        double turnNanos = seconds * 1e9 + Ablation.WARM_UP_NANOS;
        long most = (long) (Math.min(turns - 1, MOST_WARM_UPS) * steps * turnNanos);
        return new TurnWarmUp(steps, 0, most, System::nanoTime);
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

    private static void print(PrintStream out, List<AblationRow> rows) {
        out.printf(
                "%-6s  %-20s%16s%12s%12s%13s%18s%17s%n",
                "#op", "step", "(c, s, b, q)", "p50[ns]", "p99[ns]", "million/s", "(25%..75%)", "/ the one above");
        for (int i = 0; i < rows.size(); i++) {
            AblationRow row = rows.get(i);
            double over = row.over(above(rows, i));
            out.printf(
                    Locale.ROOT,
                    "%-6s  %-20s%16s%12.0f%12.0f%13.3f%18s%17s  %s%n",
                    row.operation(),
                    row.step().name(),
                    describe(row.step()),
                    row.p50().median(),
                    row.p99().median(),
                    row.rate().median() / 1e6,
                    String.format(
                            Locale.ROOT,
                            "(%.3f..%.3f)",
                            row.rate().low() / 1e6,
                            row.rate().high() / 1e6),
                    Double.isNaN(over) ? "-" : String.format(Locale.ROOT, "%.2f", over),
                    row.validity().remark(row.settled()));
        }
    }

    /** Returns the row of the step with one optimisation less than a row, or null if it is the first step. */
    private static @Nullable AblationRow above(List<AblationRow> rows, int index) {
        AblationRow above = index == 0 ? null : rows.get(index - 1);
        return above == null || !above.operation().equals(rows.get(index).operation()) ? null : above;
    }

    /** Describes a step in Redy's terms: requests are handed over to one client thread, and each travels by itself. */
    private static String describe(AblationStep step) {
        return "(" + (step.by() == AblationStep.Issuer.ITSELF ? 0 : 1) + ", " + (step.oneSided() ? 0 : 1) + ", 1, "
                + step.configuration().queueDepth() + ")";
    }

    private void put(BenchReport report, List<AblationRow> rows) {
        for (int i = 0; i < rows.size(); i++) {
            rows.get(i).put(report.row(), size, span, counted(), above(rows, i));
        }
    }

    /** A plot compares the steps, so an invalid row has no bar; there is no plot if all rows are invalid. */
    private Plot[] plots(List<AblationRow> rows) {
        if (rows.stream().allMatch(row -> row.validity().invalid())) {
            return new Plot[0];
        }
        Plot latency = Plot.bars("ablation-latency", "Latency with one optimisation more in each group", "", "ns")
                .logarithmicY();
        Plot throughput = Plot.bars(
                "ablation-throughput",
                "Throughput with one optimisation more in each group",
                "",
                "million operations/s");
        for (String name : names) {
            draw(latency, name + " p50", name, rows, row -> row.p50().median());
            draw(latency, name + " p99", name, rows, row -> row.p99().median());
            draw(throughput, name, name, rows, row -> row.rate().median() / 1e6);
        }
        return new Plot[] {latency, throughput};
    }

    private static void draw(
            Plot plot, String title, String operation, List<AblationRow> rows, ToDoubleFunction<AblationRow> figure) {
        List<String> steps = new ArrayList<>();
        List<@Nullable Double> values = new ArrayList<>();
        for (AblationRow row : rows) {
            if (row.operation().equals(operation)) {
                steps.add(row.step().name());
                values.add(row.validity().invalid() ? null : figure.applyAsDouble(row));
            }
        }
        if (values.stream().anyMatch(Objects::nonNull)) {
            plot.series(title, steps, values);
        }
    }
}
