package io.farheap.bench.search;

import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
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

    private static final int WARM_UPS = 2_000;

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
        report.origin().forEach(out::println);
        out.printf(
                "seed %d; objectives drawn between a model's lowest and highest figures; worst: of processor time, and by the clock%n%n",
                seed);
        out.printf(
                "%-8s%-9s%9s%10s%9s%12s%14s%14s%10s%12s%14s%12s%8s%8s%7s%14s%n",
                "#noise",
                "draw",
                "measured",
                "feasible",
                "of",
                "exact [us]",
                "worst [us]",
                "(clock)",
                "leaves",
                "paper [us]",
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
        for (int i = 0; i < models; i++) {
            SimulatedSystem system = new SimulatedSystem(subject, noise, random.nextLong());
            MeasurementPlan plan = new MeasurementPlan(subject);
            while (!plan.complete()) {
                plan.record(system.measure(plan.next()));
            }
            measured = Math.max(measured, plan.measured());
            PerformanceModel model = plan.model();
            configurations = Math.max(configurations, model.space().size());
            contest.warmUp(model, random, WARM_UPS / models);
            for (int j = i; j < count; j += models) {
                contest.compare(model, random);
            }
        }
        String draw = logarithmic ? "log" : "uniform";
        SearchContest.TimedSearch exact = contest.exact();
        SearchContest.TimedSearch paper = contest.paper();
        out.printf(
                Locale.ROOT,
                "%-8s%-9s%9d%10d%9d%12.1f%14.1f%14.1f%10.0f%12.0f%14.0f%12.0f%8d%8d%7d%14.0f%n",
                noise,
                draw,
                measured,
                contest.feasible(),
                contest.objectives(),
                exact.meanMicros(),
                exact.longestCpuMicros(),
                exact.longestMicros(),
                exact.examined(),
                paper.meanMicros(),
                paper.longestCpuMicros(),
                paper.examined(),
                contest.missed(),
                contest.dearer(),
                contest.other(),
                contest.longestRefusalMicros());
        report.row()
                .put("noise", noise)
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
