package io.farheap.cli;

import io.farheap.command.DeviceNotice;
import io.farheap.command.Subcommand;
import io.farheap.command.SubjectOptions;
import io.farheap.slo.Candidate;
import io.farheap.slo.ConfigurationSpace;
import io.farheap.slo.ExactSearch;
import io.farheap.slo.Explanation;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.PrunedTraversal;
import io.farheap.slo.Search;
import io.farheap.slo.SearchResult;
import io.farheap.slo.Slo;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap explain}: which configuration an objective gets, and why. */
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description =
                "Show which configuration an objective gets on this machine, and why; or the nearest objectives that can be met.")
public final class ExplainCommand implements Subcommand, Callable<Integer> {

    @Mixin
    private SloOptions objective;

    @Mixin
    private SubjectOptions options;

    @Option(
            names = "--margin",
            paramLabel = "SHARE",
            defaultValue = "" + Explanation.USUAL_MARGIN,
            description = "by which predictions are to be better than what is asked (default: ${DEFAULT-VALUE})")
    private double margin;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Slo slo = objective.slo();
        DeviceNotice.print(spec.commandLine().getErr());
        ModelSubject subject;
        try (Context context = Devices.open()) {
            subject = options.subject(context);
        }
        Path file = options.file(subject);
        if (!Files.exists(file)) {
            throw new IllegalArgumentException(
                    "there is no model " + file + "; measure it with 'farheap model' and the same options");
        }
        PerformanceModel model = ModelFile.load(file, subject);
        print(System.out, file, model, Explanation.of(model, slo, margin));
        return 0;
    }

    private static void print(PrintStream out, Path file, PerformanceModel model, Explanation why) {
        ConfigurationSpace space = model.space();
        out.printf("model       %s%n", file);
        out.printf(
                "of          %s; %s; records of %d bytes, %d%% reads%n",
                model.subject().device(),
                model.subject().hardware(),
                model.subject().recordBytes(),
                model.subject().readPercent());
        out.printf("asked       %s%n", why.slo());
        out.printf(
                Locale.ROOT,
                "margin      %.3g%%: predictions meet %s%n",
                100 * why.margin(),
                why.slo().withMargin(why.margin()));
        out.printf(
                "space       %d configurations: client threads 1 to %d, batches 1 to %d, queue depths %d to %d%n",
                why.space(), space.clientCores(), space.maxBatch(), space.minDepth(), space.maxDepth());
        for (Candidate candidate : why.candidates()) {
            out.printf(
                    "%s   %s: %s%n",
                    candidate == why.chosen() ? "chosen   " : "candidate",
                    candidate.configuration(),
                    candidate.predicted());
        }
        out.printf(
                "cost        %d server threads, %d client threads: the fewest server threads, then client threads, then the smallest batch and queue depth%n",
                why.chosen().configuration().serverThreads(),
                why.chosen().configuration().clientThreads());
        print(out, "exact", new ExactSearch(), model, why);
        print(out, "Redy's", new PrunedTraversal(), model, why);
    }

    private static void print(PrintStream out, String name, Search search, PerformanceModel model, Explanation why) {
        long start = System.nanoTime();
        SearchResult result = search.find(model, why.slo().withMargin(why.margin()));
        double micros = (System.nanoTime() - start) / 1e3;
        out.printf(
                Locale.ROOT,
                "%-11s %s in %.0f us, uncompiled; %d figures computed%n",
                name,
                result.feasible() ? result.found() : "nothing",
                micros,
                result.examined());
    }
}
