package io.farheap.cli;

import io.farheap.command.DeviceNotice;
import io.farheap.command.Sizes;
import io.farheap.command.Subcommand;
import io.farheap.command.SubjectOptions;
import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.service.MenuFile;
import io.farheap.slo.CandidateConfiguration;
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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap explain}: prints which configuration an objective gets, and why. */
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        description = {
            "Show which configuration an objective gets on this machine, and why; or the nearest objectives that can be met.",
            "With --menu: the cost of the fastest configurations, over 1, 3 and 5 switches."
        })
public final class ExplainCommand implements Subcommand, Callable<Integer> {

    @Mixin
    private SloOptions objective;

    @Mixin
    private SubjectOptions options;

    @Option(
            names = "--margin",
            paramLabel = "SHARE",
            defaultValue = "" + Explanation.USUAL_MARGIN,
            description = "by which predictions must be better than the objective (default: ${DEFAULT-VALUE})")
    private double margin;

    @Option(
            names = "--menu",
            paramLabel = "FILE",
            description =
                    "types of machines and their prices, as a manager's: print for each distance the configuration "
                            + "with the lowest latency, the one with the highest throughput and the balanced one, and the "
                            + "cheapest type for each; takes no objective")
    private @Nullable Path menu;

    @Option(
            names = "--models",
            paramLabel = "FILE",
            split = ",",
            description =
                    "with --menu: models, one for each distance, also of other machines (default: this machine's)")
    private List<Path> models = List.of();

    @Option(
            names = "--capacity",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "1g",
            description = "with --menu: capacity of the cache whose cost is printed (default: ${DEFAULT-VALUE})")
    private long capacity;

    @Option(
            names = "--place",
            paramLabel = "DC/CLUSTER/RACK",
            defaultValue = "",
            description = "with --menu: place of the client, for types that are offered in one place only (default: "
                    + "unknown, five switches from each)")
    private String place;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (menu != null) {
            explainMenu(menu);
            return 0;
        }
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

    private void explainMenu(Path file) throws IOException {
        if (objective.given()) {
            throw new IllegalArgumentException("--menu takes no objective: leave out one or the other");
        }
        if (capacity < 1) {
            throw new IllegalArgumentException("--capacity " + capacity + "; that is at least 1");
        }
        new MenuExplanation(MenuFile.read(file), capacity, NetworkLocation.parse(place), models()).print(System.out);
    }

    /** Returns the models that are named, or this machine's for each distance. */
    private Map<Path, PerformanceModel> models() throws IOException {
        Map<Path, PerformanceModel> found = new LinkedHashMap<>();
        if (!models.isEmpty()) {
            Map<Integer, Path> distances = new HashMap<>();
            for (Path file : models) {
                if (!Files.exists(file)) {
                    throw new IllegalArgumentException("there is no model " + file);
                }
                PerformanceModel model = ModelFile.load(file);
                Path other = distances.put(model.subject().switches(), file);
                if (other != null) {
                    throw new IllegalArgumentException("models " + other + " and " + file + " are both over "
                            + model.subject().switches() + " switches; name one for each distance");
                }
                found.put(file, model);
            }
            return found;
        }
        DeviceNotice.print(spec.commandLine().getErr());
        ModelSubject subject;
        try (Context context = Devices.open()) {
            subject = options.subject(context);
        }
        Set<Integer> distances = new LinkedHashSet<>(MenuExplanation.DISTANCES);
        distances.add(subject.switches());
        for (int distance : distances) {
            ModelSubject other = subject.over(distance);
            Path file = options.file(other);
            if (Files.exists(file) && (distance == subject.switches() || !options.namesFile())) {
                found.put(file, ModelFile.load(file, other));
            }
        }
        if (found.isEmpty()) {
            throw new IllegalArgumentException(
                    "there is no model of this machine: measure one with 'farheap model' and "
                            + "the same options, or name some with --models");
        }
        return found;
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
        for (CandidateConfiguration candidate : why.candidates()) {
            out.printf(
                    "%s   %s: %s%n",
                    candidate.equals(why.chosen()) ? "chosen   " : "candidate",
                    candidate.configuration(),
                    candidate.predicted());
            out.printf("rests on    %s%n", model.basis(candidate.configuration()));
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
