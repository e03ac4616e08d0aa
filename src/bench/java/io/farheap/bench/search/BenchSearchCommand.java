package io.farheap.bench.search;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.TimingNote;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.SimulatedSystem;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code farheap bench search}: compares the times and the answers of the searches for a configuration, on models of a
 * simulated system.
 */
@Command(
        name = "search",
        mixinStandardHelpOptions = true,
        description = {
            "The exact search for a configuration beside Redy's, on performance models of a simulated system: no device is measured.",
            "Its noise makes the models non-monotonic: Redy's pruning then misses configurations."
        })
public final class BenchSearchCommand implements Callable<Integer> {

    /** Of a row's warm-up, for each objective: a row of few objectives only shows that the benchmark works. */
    private static final long WARM_UP_NANOS = 30_000_000L;
    /** Of a row's warm-up: until the JVM has compiled the searches. Turns of interpreted code agree, too. */
    private static final long LEAST_WARM_UP_NANOS = 500_000_000L;

    private static final long MOST_WARM_UP_NANOS = 3_000_000_000L;
    /** Of the exact search, before the warm-up of both. */
    private static final int EXACT_WARM_UPS = 2_000;
    /** Both searches read the same model, and keep nothing beside it. */
    private static final SideSetup SETUP = new SideSetup(0, 1, 1, 1);

    @Option(
            names = "--cores",
            paramLabel = "C",
            defaultValue = "30",
            description = "client cores (default: ${DEFAULT-VALUE}, Redy's)")
    private int cores;

    @Option(
            names = "--record",
            paramLabel = "BYTES",
            defaultValue = "8",
            description = "record size (default: ${DEFAULT-VALUE})")
    private int recordBytes;

    @Option(
            names = "--max-depth",
            paramLabel = "Q",
            defaultValue = "16",
            description = "the device's queue depth (default: ${DEFAULT-VALUE}, Redy's)")
    private int maxDepth;

    @Option(
            names = "--noise",
            split = ",",
            paramLabel = "SHARE",
            defaultValue = "0,0.02,0.1,0.3",
            description =
                    "by which measured figures differ from the simulated system's closed form (default: ${DEFAULT-VALUE})")
    private List<Double> noises;

    @Option(
            names = "--models",
            paramLabel = "N",
            defaultValue = "5",
            description = "models per noise (default: ${DEFAULT-VALUE})")
    private int models;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "100",
            description = "random objectives per noise and way of drawing (default: ${DEFAULT-VALUE})")
    private int count;

    @Option(
            names = "--seed",
            paramLabel = "S",
            defaultValue = "1",
            description = "of noise and objectives (default: ${DEFAULT-VALUE})")
    private long seed;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        check();
        output.check();
        BenchReport report = output.report(spec);
        PrintStream out = System.out;
        TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
        note.put(report);
        report.origin().forEach(out::println);
        out.printf(
                "seed %d; objectives drawn between a model's lowest and highest figures; median: of the objectives, with quartiles;%n"
                        + "worst: of processor time, and by the clock; the order of the searches rotates; %s%n%n",
                seed, note.sentence());
        out.printf(
                "%-8s%-9s%9s%10s%9s%12s%18s%12s%14s%14s%10s%12s%22s%12s%14s%12s%8s%8s%7s%14s%n",
                "#noise",
                "draw",
                "measured",
                "feasible",
                "of",
                "exact [us]",
                "(25%..75%)",
                "mean",
                "worst [us]",
                "(clock)",
                "leaves",
                "paper [us]",
                "(25%..75%)",
                "mean",
                "worst [us]",
                "leaves",
                "missed",
                "dearer",
                "other",
                "refusal [us]");
        for (double noise : noises) {
            for (boolean logarithmic : new boolean[] {false, true}) {
                run(out, report, noise, logarithmic);
            }
        }
        output.write(report);
        return 0;
    }

    private void run(PrintStream out, BenchReport report, double noise, boolean logarithmic) {
        ModelSubject subject = new ModelSubject("simulated", "none", 1, recordBytes, 50, cores, maxDepth);
        SearchContest contest = new SearchContest(logarithmic);
        SplittableRandom random = new SplittableRandom(seed);
        int measured = 0;
        long configurations = 0;
        // How long the warm-up takes must not change the objectives.
        SplittableRandom unmeasured = random.split();
        for (int i = 0; i < models; i++) {
            SimulatedSystem system = new SimulatedSystem(subject, noise, random.nextLong());
            MeasurementPlan plan = new MeasurementPlan(subject);
            while (!plan.complete()) {
                plan.record(system.measure(plan.next()));
            }
            measured = Math.max(measured, plan.measured());
            PerformanceModel model = plan.model();
            configurations = Math.max(configurations, model.space().size());
            if (i == 0) {
                contest.warmUpExact(model, unmeasured, EXACT_WARM_UPS);
                contest.warmUp(model, unmeasured, warmUp());
            } else {
                contest.touch(model, unmeasured);
            }
            for (int j = i; j < count; j += models) {
                contest.compare(model, random);
            }
        }
        String draw = logarithmic ? "log" : "uniform";
        SearchContest.TimedSearch exact = contest.exact();
        SearchContest.TimedSearch paper = contest.paper();
        out.printf(
                Locale.ROOT,
                "%-8s%-9s%9d%10d%9d%12.1f%18s%12.1f%14.1f%14.1f%10.0f%12.0f%22s%12.0f%14.0f%12.0f%8d%8d%7d%14.0f  %s%n",
                noise,
                draw,
                measured,
                contest.feasible(),
                contest.objectives(),
                exact.micros().median(),
                spread(exact.micros()),
                exact.meanMicros(),
                exact.longestCpuMicros(),
                exact.longestMicros(),
                exact.examined(),
                paper.micros().median(),
                spread(paper.micros()),
                paper.meanMicros(),
                paper.longestCpuMicros(),
                paper.examined(),
                contest.missed(),
                contest.dearer(),
                contest.other(),
                contest.longestRefusalMicros(),
                Validity.NO_MODEL.remark(contest.settled()));
        BenchReport.Row row = report.row();
        row.put("noise", noise)
                .put("draw", draw)
                .put("seed", seed)
                .put("models", models)
                .put("configurations", configurations)
                .put("measured_max", measured)
                .put("count", contest.objectives())
                .put("feasible", contest.feasible())
                .put("exact_mean_us", exact.meanMicros())
                .put("exact_max_us", exact.longestMicros())
                .put("exact_max_cpu_us", exact.longestCpuMicros())
                .put("exact_leaves", exact.examined())
                .put("paper_mean_us", paper.meanMicros())
                .put("paper_max_us", paper.longestMicros())
                .put("paper_max_cpu_us", paper.longestCpuMicros())
                .put("paper_leaves", paper.examined())
                .put("paper_missed", contest.missed())
                .put("paper_dearer", contest.dearer())
                .put("paper_other", contest.other())
                .put("refusal_mean_cpu_us", contest.meanRefusalMicros())
                .put("refusal_max_cpu_us", contest.longestRefusalMicros());
        put(row, "exact", exact.micros());
        put(row, "paper", paper.micros());
        SETUP.put(row);
        SETUP.put(row, "paper_");
        Validity.NO_MODEL.put(row, contest.settled());
    }

    private TurnWarmUp warmUp() {
        long most = Math.min(count * WARM_UP_NANOS, MOST_WARM_UP_NANOS);
        return new TurnWarmUp(SearchContest.SIDES, Math.min(LEAST_WARM_UP_NANOS, most), most, System::nanoTime);
    }

    private static void put(BenchReport.Row row, String search, Quartiles micros) {
        row.put(search + "_p50_us", micros.median())
                .put(search + "_p25_us", micros.low())
                .put(search + "_p75_us", micros.high());
    }

    private static String spread(Quartiles micros) {
        return String.format(Locale.ROOT, "(%.1f..%.1f)", micros.low(), micros.high());
    }

    private void check() {
        if (models < 1 || count < models) {
            throw new IllegalArgumentException("--models " + models + " --count " + count
                    + ": there is at least 1 model, and 1 objective for each");
        }
        for (double noise : noises) {
            if (!(noise >= 0 && noise < 1)) {
                throw new IllegalArgumentException("--noise " + noise + ": it is from 0 to less than 1");
            }
        }
    }
}
