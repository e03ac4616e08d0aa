package io.farheap.bench.slo;

import io.farheap.bench.machine.ClockCost;
import io.farheap.bench.report.BenchOutput;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.DeviceNotice;
import io.farheap.command.ModelConsole;
import io.farheap.command.ModelServer;
import io.farheap.command.Plot;
import io.farheap.command.SubjectOptions;
import io.farheap.measure.MeasuredCache;
import io.farheap.measure.ModelRun;
import io.farheap.slo.Configuration;
import io.farheap.slo.Explanation;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap bench slo}: measures whether caches meet their objectives (Redy, section 7.3, figures 13 and 14). */
@Command(
        name = "slo",
        mixinStandardHelpOptions = true,
        description = {
            "For random objectives: the objective, and the predicted and the measured figures of the configuration found for it.",
            "A performance model that this machine does not have yet is measured first, and kept."
        })
public final class BenchSloCommand implements Callable<Integer> {

    /** How many candidates for the best fixed configuration are measured. */
    private static final int BASELINES = 3;
    /** Of the warm-up, for each objective: a run with few objectives only shows that the benchmark works. */
    private static final long WARM_UP_NANOS = 600_000_000L;
    /** Of the warm-up, for all objectives. */
    private static final long MOST_WARM_UP_NANOS = 60_000_000_000L;

    @Option(
            names = "--count",
            paramLabel = "N",
            defaultValue = "100",
            description = "objectives that can be met (default: ${DEFAULT-VALUE})")
    private int count;

    @Option(
            names = "--margin",
            paramLabel = "SHARE",
            defaultValue = "" + Explanation.USUAL_MARGIN,
            description = "by which predictions must be better than the objective (default: ${DEFAULT-VALUE})")
    private double margin;

    @Option(
            names = "--turns",
            paramLabel = "N",
            defaultValue = "4",
            description =
                    "turns of each configuration, of which the medians are shown, rounded up to an even number, so that "
                            + "the order favours none (default: ${DEFAULT-VALUE})")
    private int turns;

    @Option(
            names = "--seed",
            paramLabel = "S",
            defaultValue = "1",
            description = "of objectives and load (default: ${DEFAULT-VALUE})")
    private long seed;

    @Option(
            names = "--server",
            paramLabel = "HOST:PORT",
            description = "memory server to measure with (default: one is started on this host)")
    private @Nullable String server;

    @Mixin
    private SubjectOptions options;

    @Mixin
    private BenchOutput output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (count < 1) {
            throw new IllegalArgumentException("--count " + count + ": it must be at least 1");
        }
        if (turns < 1) {
            throw new IllegalArgumentException("--turns " + turns + ": it must be at least 1");
        }
        output.check();
        DeviceNotice.print(spec.commandLine().getErr());
        BenchReport report;
        ModelSubject subject;
        try (Context context = Devices.open()) {
            report = output.report(spec, context);
            subject = options.subject(context);
        }
        if (subject.coded()) {
            throw new IllegalArgumentException(
                    "--resilience: bench slo measures caches without; measure a model of coded ones with 'farheap model'");
        }
        PrintStream out = System.out;
        report.origin().forEach(out::println);
        try (ModelServer memory = new ModelServer(server);
                MeasuredCache cache = new MeasuredCache(subject, memory::address, seed)) {
            ModelRun run = new ModelRun(subject, options.file(subject));
            ModelConsole console = new ModelConsole(run);
            PerformanceModel model = console.measure(cache);
            console.print(out, model);
            report.summary()
                    .put("model_file_bytes", Files.size(run.file()))
                    .put("model_measurements", run.measured())
                    .put("model_points_left_out", run.leftOut())
                    .put("model_measurements_now", run.measuredNow())
                    .put("model_seconds_now", run.seconds());
            OtherLoad others = OtherLoad.since(memory.processes());
            AccuracyExperiment experiment = new AccuracyExperiment(model, margin, seed);
            if (experiment.draw(count).isEmpty()) {
                throw new IllegalArgumentException("--margin " + margin + ": of " + experiment.drawn()
                        + " objectives between the lowest and the highest figures of " + options.file(subject)
                        + " none can be met; take a smaller one, or measure a model of a larger space");
            }
            try (ModelLateness lateness = new ModelLateness(memory.address())) {
                experiment.measure(
                        BASELINES,
                        configuration -> turn(cache, configuration, lateness),
                        turns,
                        warmUpNanos(),
                        System::nanoTime);
            }
            TimingNote note = new TimingNote(ClockCost.nanos(), false, true);
            AccuracyReport figures =
                    new AccuracyReport(experiment, count, margin, subject.recordBytes(), experiment.turns(), note, out);
            figures.print();
            figures.summarize(report, others.share());
            output.write(report, output.plots() ? figures.plots() : new Plot[0]);
        }
        return 0;
    }

    /** Returns 0 for one turn, with which a run only shows that the benchmark works. */
    private long warmUpNanos() {
        return turns == 1 ? 0 : Math.min(count * WARM_UP_NANOS, MOST_WARM_UP_NANOS);
    }

    /** A turn's operations are judged without those of its own warm-up. */
    private static ConfigurationTurns.Turn turn(
            MeasuredCache cache, Configuration configuration, ModelLateness lateness) throws InterruptedException {
        Performance performance = cache.measure(configuration, lateness::restart);
        List<ModelLateness.Counts> late = lateness.since();
        return new ConfigurationTurns.Turn(performance, CoreDistance.nanos(), late);
    }
}
