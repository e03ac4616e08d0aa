package io.farheap.manager.simulator;

import com.google.gson.JsonObject;
import io.farheap.command.Subcommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap simulate}: simulates a data center's unallocated and stranded memory, and caches in it. */
@Command(
        name = "simulate",
        description = "Simulate a data center's unallocated and stranded memory, and caches that live in it.",
        mixinStandardHelpOptions = true,
        subcommands = {SimulateSpotCommand.class, SimulatePlacementCommand.class},
        sortOptions = false)
public final class SimulateCommand implements Subcommand, Callable<Integer> {

    @Option(names = "--servers", defaultValue = "10000", description = "Servers (default: ${DEFAULT-VALUE}).")
    private int servers;

    @Option(names = "--days", defaultValue = "30", description = "Days to measure (default: ${DEFAULT-VALUE}).")
    private double days;

    @Option(names = "--seed", description = "The same seed gives the same simulation (default: another each time).")
    private @Nullable Long seed;

    @Option(
            names = "--caches",
            description = "Caches at a time, on average; 0 for none (default: one for every twenty servers).")
    private @Nullable Double caches;

    @Option(names = "--no-spot", description = "Caches get no spot machines.")
    private boolean noSpot;

    @Option(
            names = "--no-release-moves",
            description = "Caches leave a server only at its notice, and not when one of its cores becomes free. The "
                    + "manager has no such moves.")
    private boolean noReleaseMoves;

    @Option(
            names = "--no-searches",
            description = "Caches are not placed again, every ten minutes, if that costs less. The manager moves them "
                    + "by another rule.")
    private boolean noSearches;

    @Option(
            names = "--compare",
            description = "Simulate again without spot machines, without moves at a release, without searches, and "
                    + "without all three.")
    private boolean compare;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file.")
    private @Nullable Path json;

    @Option(names = "--plots", paramLabel = "DIR", description = "Write the paper's figures 1 and 2 as PNG into DIR.")
    private @Nullable Path plots;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (servers < 1 || !(days > 0) || days == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException(
                    "a simulation of " + servers + " servers for " + days + " days; each is more than 0");
        }
        PrintWriter out = spec.commandLine().getOut();
        long chosen = seed != null ? seed : RandomGenerator.getDefault().nextLong(1_000_000);
        SimulatedCacheOptions options = new SimulatedCacheOptions(
                caches != null ? caches : servers / 20.0, !noSpot, !noReleaseMoves, !noSearches);
        String command = "./farheap simulate --servers " + servers + " --days " + days + " --seed " + chosen;
        out.println(command);
        out.flush();
        long begin = System.nanoTime();
        Simulation simulation = run(chosen, options);
        SimulationReport report = new SimulationReport(simulation);
        report.printMarket(out);
        JsonObject figures = report.json();
        figures.addProperty("seed", chosen);
        figures.addProperty("servers", servers);
        figures.addProperty("days", days);
        if (options.caches() > 0) {
            report.printCaches(out, "caches");
            report.printAllocator(out);
        }
        out.printf("It took %.0f s.%n", (System.nanoTime() - begin) / 1e9);
        out.flush();
        if (compare) {
            figures.add("compared", compare(chosen, options, out));
        }
        if (json != null) {
            Files.writeString(json, SimulationReport.text(figures));
        }
        if (plots != null) {
            SimulationFigures.write(
                    simulation.census(),
                    plots,
                    List.of("simulated: fitted to the paper's figures, not observed", command));
        }
        return 0;
    }

    private Simulation run(long chosen, SimulatedCacheOptions options) {
        Simulation simulation = new Simulation(servers, days, chosen, options);
        simulation.run();
        return simulation;
    }

    private JsonObject compare(long chosen, SimulatedCacheOptions all, PrintWriter out) {
        Map<String, SimulatedCacheOptions> others = new LinkedHashMap<>();
        others.put("no_spot", new SimulatedCacheOptions(all.caches(), false, all.releaseMoves(), all.searches()));
        others.put("no_release_moves", new SimulatedCacheOptions(all.caches(), all.spot(), false, all.searches()));
        others.put("no_searches", new SimulatedCacheOptions(all.caches(), all.spot(), all.releaseMoves(), false));
        others.put("none_of_them", new SimulatedCacheOptions(all.caches(), false, false, false));
        JsonObject compared = new JsonObject();
        others.forEach((name, options) -> {
            SimulationReport report = new SimulationReport(run(chosen, options));
            report.printCaches(out, name.replace('_', ' '));
            out.flush();
            compared.add(name, report.caches());
        });
        return compared;
    }
}
