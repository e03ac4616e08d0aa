package io.farheap.manager.simulator;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap simulate spot}: runs the manager itself on a simulated spot market. */
@Command(
        name = "spot",
        description = {
            "Run the manager itself, with all of its rules, on a simulated spot market, and say how well it judges.",
            "Lives of spot machines are exponential, of a Weibull distribution, end for a whole rack at once, or are",
            "all equally long."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class SimulateSpotCommand implements Callable<Integer> {

    /** Kept here, since the logging system forgets a logger and its level if nothing refers to it. */
    private static final Logger MANAGER = Logger.getLogger("io.farheap.manager.service");

    @Option(
            names = "--lives",
            paramLabel = "FORM",
            split = ",",
            defaultValue = "exponential,weibull,rack,fixed",
            description = "How spot machines really live, one simulation for each (default: ${DEFAULT-VALUE}).")
    private List<String> lives;

    @Option(names = "--days", defaultValue = "30", description = "Days to simulate (default: ${DEFAULT-VALUE}).")
    private double days;

    @Option(names = "--seed", description = "The same seed gives the same simulation (default: another each time).")
    private @Nullable Long seed;

    @Option(
            names = "--caches",
            defaultValue = "40",
            description = "Caches at a time, on average, of 1 to 8 GiB (default: ${DEFAULT-VALUE}).")
    private double caches;

    @Option(
            names = "--mean-life",
            paramLabel = "HOURS",
            defaultValue = "6",
            description = "How long spot machines live on average (default: ${DEFAULT-VALUE}).")
    private double meanLife;

    @Option(names = "--no-early-moves", description = "As the manager's option.")
    private boolean noEarlyMoves;

    @Option(
            names = "--cheaper-moves",
            paramLabel = "N",
            defaultValue = "2",
            description = "As the manager's option (default: ${DEFAULT-VALUE}).")
    private int cheaperMoves;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file.")
    private @Nullable Path json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        long chosen = seed != null ? seed : RandomGenerator.getDefault().nextLong(1_000_000);
        List<SpotMarketOptions> all = lives.stream()
                .map(form -> new SpotMarketOptions(
                        SpotLifeForm.parse(form), meanLife, caches, days, chosen, !noEarlyMoves, cheaperMoves))
                .toList();
        PrintWriter out = spec.commandLine().getOut();
        out.println(
                "./farheap simulate spot --lives " + String.join(",", lives) + " --days " + days + " --seed " + chosen);
        JsonArray figures = new JsonArray();
        // Each end of a machine is news to a manager that runs; here there are thousands of them.
        Level before = MANAGER.getLevel();
        MANAGER.setLevel(Level.SEVERE);
        try {
            for (SpotMarketOptions options : all) {
                SpotFigures found = new SpotMarketSimulation(options).run();
                print(out, found);
                figures.add(found.json());
            }
        } finally {
            MANAGER.setLevel(before);
        }
        if (json != null) {
            JsonObject file = new JsonObject();
            file.add("markets", figures);
            Files.writeString(json, SimulationReport.text(file));
        }
        return 0;
    }

    private static void print(PrintWriter out, SpotFigures found) {
        out.printf(
                Locale.ROOT,
                "%s: %d ends; mean life %.2f h, drawn %.2f h and estimated %.2f h after %d ends, and %.2f h at the "
                        + "end; %d moves, %d early, %d not needed; %d of %d observed servers without an offer; "
                        + "%d caches, %d refused, %d of these beside room; %d machines started, %d needed; "
                        + "%d of %d regions with a notice lost, %d in turn, %d of absent clients%n",
                found.options().lives().text(),
                found.ends(),
                found.options().meanHours(),
                found.drawnAtFifty(),
                found.meanAtFifty(),
                SpotFigures.ENOUGH_ENDS,
                found.meanAtEnd(),
                found.moves(),
                found.early(),
                found.needless(),
                found.closed(),
                found.samples(),
                found.asked(),
                found.refused(),
                found.refusedBesideRoom(),
                found.started(),
                found.needed(),
                found.lost(),
                found.left(),
                found.lostInTurn(),
                found.lostAbsent());
        found.missed().forEach(target -> out.println("  missed: " + target));
        out.flush();
    }
}
