package io.farheap.manager.simulator;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap simulate placement}: what schemes for the placement of coded ranges lose, and how even they are. */
@Command(
        name = "placement",
        description = {
            "Place coded ranges on servers by several schemes, among them the manager's coding groups, and say how",
            "likely data is lost if servers fail at once or over time, and how evenly servers are loaded."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class SimulatePlacementCommand implements Callable<Integer> {

    private static final Pattern CODE = Pattern.compile("(\\d{1,3})\\+(\\d{1,3})");
    /** Slabs that are placed for one row by default: some seconds. */
    private static final long TRIAL_SLABS = 20_000_000;

    private static final int MOST_TRIALS = 10_000;
    /** Years times servers that are simulated for one row by default: some seconds. */
    private static final double SERVER_YEARS = 20_000;
    /** In larger clusters it would take far longer to place all ranges. */
    private static final int MOST_SERVERS_OVER_TIME = 200_000;
    /** The imbalance that the emptier of two groups must not exceed. */
    private static final double MOST_IMBALANCE = 1.2;

    @Option(names = "--servers", defaultValue = "1000", description = "Servers (default: ${DEFAULT-VALUE}).")
    private int servers;

    @Option(
            names = "--slabs",
            split = ",",
            defaultValue = "16",
            description = "Slabs of each server on average (default: ${DEFAULT-VALUE}).")
    private List<Integer> slabs;

    @Option(
            names = "--code",
            paramLabel = "K+R",
            split = ",",
            defaultValue = "8+2",
            description = "Data and parity splits; 1+1 is two copies (default: ${DEFAULT-VALUE}).")
    private List<String> codes;

    @Option(
            names = "--spare",
            paramLabel = "L",
            split = ",",
            defaultValue = "0,2,4",
            description = "Servers of a group beyond k + r (default: ${DEFAULT-VALUE}).")
    private List<Integer> spares;

    @Option(
            names = "--failed",
            paramLabel = "PERCENT",
            split = ",",
            defaultValue = "1",
            description = "Servers that fail at once (default: ${DEFAULT-VALUE}).")
    private List<Double> failed;

    @Option(
            names = "--trials",
            description = "Simulated failures, each of a new placement (default: as many as take some seconds).")
    private @Nullable Integer trials;

    @Option(names = "--seed", description = "The same seed gives the same simulation (default: another each time).")
    private @Nullable Long seed;

    @Option(
            names = "--years",
            description = "Years in which servers and racks fail over time; 0 for none (default: as many as take some "
                    + "seconds; none above 200,000 servers).")
    private @Nullable Double years;

    @Option(
            names = "--life-days",
            defaultValue = "365",
            description = "Mean time until a server fails alone (default: ${DEFAULT-VALUE}).")
    private double lifeDays;

    @Option(
            names = "--rack-servers",
            defaultValue = "32",
            description = "Servers of a rack (default: ${DEFAULT-VALUE}).")
    private int rackServers;

    @Option(
            names = "--rack-life-days",
            defaultValue = "365",
            description = "Mean time until all servers of a rack fail at once; 0: racks do not fail (default: "
                    + "${DEFAULT-VALUE}).")
    private double rackLifeDays;

    @Option(
            names = "--repair-seconds",
            defaultValue = "0.274",
            description = "Mean time in which a slab is made again (default: ${DEFAULT-VALUE}, Hydra's for 1 GB).")
    private double repairSeconds;

    @Option(
            names = "--repairs",
            split = ",",
            defaultValue = "4",
            description = "Slabs of a cache that are made again at a time (default: ${DEFAULT-VALUE}).")
    private List<Integer> repairs;

    @Option(
            names = "--cache-ranges",
            defaultValue = "16",
            description = "Ranges of a cache (default: ${DEFAULT-VALUE}).")
    private int cacheRanges;

    @Option(
            names = "--return-minutes",
            defaultValue = "5",
            description = "Time until a failed server is back, empty (default: ${DEFAULT-VALUE}).")
    private double returnMinutes;

    @Option(names = "--json", paramLabel = "FILE", description = "Write the figures to this file.")
    private @Nullable Path json;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        long chosen = seed != null ? seed : RandomGenerator.getDefault().nextLong(1_000_000);
        List<PlacementOptions> clusters = clusters(chosen);
        List<FailureOptions> failing = failing(years != null ? years : defaultYears());
        PrintWriter out = spec.commandLine().getOut();
        String command = "./farheap simulate placement --servers " + servers + " --seed " + chosen;
        out.println(command);
        JsonObject figures = new JsonObject();
        figures.addProperty("seed", chosen);
        figures.add("rows", atOnce(clusters, out));
        if (!failing.isEmpty()) {
            figures.add("over_time", overTime(clusters.getFirst(), failing, out));
        }
        figures.add("savings", savings(out));
        if (json != null) {
            Files.writeString(json, SimulationReport.text(figures));
        }
        return 0;
    }

    private double defaultYears() {
        return servers > MOST_SERVERS_OVER_TIME ? 0 : SERVER_YEARS / servers;
    }

    private List<PlacementOptions> clusters(long chosen) {
        List<PlacementOptions> clusters = new ArrayList<>();
        for (String code : codes) {
            Matcher parts = CODE.matcher(code);
            if (!parts.matches()) {
                throw new IllegalArgumentException("a code of '" + code + "'; write data and parity splits as 8+2");
            }
            int k = Integer.parseInt(parts.group(1));
            int r = Integer.parseInt(parts.group(2));
            for (int each : slabs) {
                for (double percent : failed) {
                    clusters.add(new PlacementOptions(servers, each, k, r, percent, trials(each), chosen));
                }
            }
        }
        return clusters;
    }

    private int trials(int slabsEach) {
        if (trials != null) {
            return trials;
        }
        long all = Math.max(1, (long) servers * slabsEach);
        return Math.clamp(TRIAL_SLABS / all, 1, MOST_TRIALS);
    }

    private JsonArray atOnce(List<PlacementOptions> clusters, PrintWriter out) {
        JsonArray rows = new JsonArray();
        out.println("Servers fail at once:");
        out.println(PlacementRow.HEAD);
        for (PlacementOptions cluster : clusters) {
            for (PlacementScheme scheme : PlacementScheme.values()) {
                for (int spare : spares(scheme)) {
                    PlacementRow row = new PlacementSimulation(cluster, scheme, spare).run();
                    out.println(row.text());
                    if (row.deviates()) {
                        out.printf(
                                Locale.ROOT,
                                row.lossSimulated() < row.lossExact() && scheme.grouped()
                                        ? "  more than %.0f standard errors below the exact loss: some sets of r + 1 "
                                                + "servers of a group have no range in common%n"
                                        : "  missed: more than %.0f standard errors from the exact loss%n",
                                PlacementRow.TOLERANCE);
                    }
                    if (scheme == PlacementScheme.EMPTIER_GROUP && row.imbalance() > MOST_IMBALANCE) {
                        out.printf(
                                Locale.ROOT,
                                "  missed: the imbalance is %.2f and not at most %.1f%n",
                                row.imbalance(),
                                MOST_IMBALANCE);
                    }
                    out.flush();
                    rows.add(row.json());
                }
            }
        }
        return rows;
    }

    /** Returns the group sizes that are simulated: of two groups those of a manager alone, which take the most time. */
    private List<Integer> spares(PlacementScheme scheme) {
        return switch (scheme) {
            case RANDOM, TWO_CHOICES -> List.of(0);
            case CODING_SETS -> spares;
            case EMPTIER_GROUP -> List.of(managerSpare());
        };
    }

    private int managerSpare() {
        return spares.contains(2) ? 2 : spares.getFirst();
    }

    /** Returns what happens over time, once for each number of repairs at a time; empty for 0 years. */
    private List<FailureOptions> failing(double simulatedYears) {
        List<FailureOptions> all = new ArrayList<>();
        for (int repairsAtATime : simulatedYears == 0 ? List.<Integer>of() : repairs) {
            all.add(new FailureOptions(
                    rackServers,
                    true,
                    lifeDays,
                    rackLifeDays == 0 ? Double.POSITIVE_INFINITY : rackLifeDays,
                    repairSeconds,
                    repairsAtATime,
                    cacheRanges,
                    returnMinutes,
                    simulatedYears));
        }
        return all;
    }

    private JsonArray overTime(PlacementOptions cluster, List<FailureOptions> all, PrintWriter out) {
        JsonArray rows = new JsonArray();
        out.println("Servers fail one by one, and racks at once:");
        out.println(FailureRow.HEAD);
        for (FailureOptions failing : all) {
            for (boolean domains : new boolean[] {true, false}) {
                for (PlacementScheme scheme : List.of(PlacementScheme.RANDOM, PlacementScheme.CODING_SETS)) {
                    FailureOptions within = failing.withRackDomains(domains);
                    String refusal = FailureSimulation.refusal(cluster, within, scheme, managerSpare());
                    if (refusal != null) {
                        out.println("  not simulated: " + refusal);
                        continue;
                    }
                    FailureRow row = new FailureSimulation(cluster, within, scheme, managerSpare()).run();
                    out.println(row.text());
                    out.flush();
                    rows.add(row.json());
                }
            }
        }
        return rows;
    }

    private static JsonArray savings(PrintWriter out) {
        JsonArray rows = new JsonArray();
        out.println("Savings in three years by lending unused memory, in percent of a machine's price:");
        for (MemorySavings savings : MemorySavings.TABLE) {
            out.printf(
                    Locale.ROOT,
                    "%-18s %-10s %5.1f  paper %4.1f%n",
                    savings.scheme(),
                    savings.provider(),
                    savings.percent(),
                    savings.paper());
            JsonObject row = new JsonObject();
            row.addProperty("scheme", savings.scheme());
            row.addProperty("provider", savings.provider());
            row.addProperty("savings_pct", savings.percent());
            row.addProperty("paper", savings.paper());
            rows.add(row);
        }
        out.flush();
        return rows;
    }
}
