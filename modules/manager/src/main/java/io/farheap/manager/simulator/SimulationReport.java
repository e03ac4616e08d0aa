package io.farheap.manager.simulator;

import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.Stream;

/** A simulation's figures, for people and as JSON. */
final class SimulationReport {

    private static final int[] PERCENTS = {1, 10, 50, 90, 99};
    private static final int[] QUARTILES = {25, 50, 75};
    private static final double DECIMALS = 1e3;

    private final Simulation simulation;
    private final DataCenterCensus census;
    private final CachePopulation far;

    SimulationReport(Simulation simulation) {
        this.simulation = simulation;
        census = simulation.census();
        far = simulation.farMemory();
    }

    void printMarket(PrintWriter out) {
        out.printf("%-34s %9s %10s %10s%n", "fitted, not observed", "paper", "simulated", "deviation");
        long missed = print(out, PaperQuantile.ALL);
        long spreads = print(out, PaperQuantile.SPREADS);
        out.println((missed == 0
                        ? "Every quantile is within 20% of the paper's"
                        : missed + " of " + PaperQuantile.ALL.size()
                                + " quantiles are further than 20% from the paper's")
                + (spreads == 0
                        ? ", and so is every spread."
                        : ", and " + spreads + " of " + PaperQuantile.SPREADS.size()
                                + " spreads are further than that: simulated clusters differ less, or more, than the "
                                + "paper's.")
                + " The market's parameters were fitted to the quantiles, so this shows how far they can be met, and "
                + "not that a data center is like this.");
        SimulatedDataCenter market = simulation.market();
        out.printf(
                "%d machines came in %.0f days, %.2f%% of them to a full cluster; %d strandings ended.%n",
                market.arrivals(),
                market.now() / MachineDemand.DAY,
                100.0 * market.refused() / Math.max(1, market.arrivals()),
                census.strandings());
    }

    /** Returns how many of the figures are missed. */
    private long print(PrintWriter out, List<PaperQuantile> figures) {
        for (PaperQuantile figure : figures) {
            out.printf(
                    "%-34s %9s %10s %+9.0f%%%s%n",
                    figure.what(),
                    (figure.atLeast() ? ">= " : "") + "%.0f %s".formatted(figure.paper(), figure.unit()),
                    "%.2f %s".formatted(figure.simulated().applyAsDouble(census), figure.unit()),
                    100 * figure.deviation(census),
                    figure.misses(census) ? "  missed" : "");
        }
        return figures.stream().filter(figure -> figure.misses(census)).count();
    }

    void printCaches(PrintWriter out, String which) {
        CachePopulation.CacheCounts counts = far.counts();
        CostMeter meter = far.meter();
        out.printf(
                "%s: %d caches, %d refused; %.1f%% of the full price, %.1f%% of larger machines; memory %s; %d reclaims, "
                        + "regions moved %d (%d at a release, %d by searches), lost %d; objectives missed %.4f%% of the time%n",
                which,
                counts.asked(),
                counts.refused(),
                meter.costPercentOfFullPrice(),
                meter.costPercentOfLargerMachines(),
                percents(meter.memoryPercents()),
                counts.reclaims(),
                counts.moved(),
                counts.movedAtRelease(),
                counts.movedBySearch(),
                counts.lost(),
                meter.objectivesMissedPercent());
    }

    private static String percents(Map<String, Double> parts) {
        StringBuilder text = new StringBuilder();
        new TreeMap<>(parts).forEach((name, percent) -> text.append(text.isEmpty() ? "" : ", ")
                .append("%s %.1f%%".formatted(name, percent)));
        return text.toString();
    }

    void printAllocator(PrintWriter out) {
        TimedAllocator allocator = far.allocator();
        out.printf(
                "The allocator chose %d times: %.0f a second, p99.9 %.0f us, slowest %.0f us.%n",
                allocator.count(), allocator.perSecond(), allocator.micros(99.9), allocator.slowestMicros());
    }

    /** Returns the fields of a run's caches. */
    JsonObject caches() {
        JsonObject json = new JsonObject();
        CachePopulation.CacheCounts counts = far.counts();
        json.addProperty("caches", counts.asked());
        json.addProperty("refused", counts.refused());
        json.addProperty("reclaims", counts.reclaims());
        json.addProperty("regions_moved", counts.moved());
        json.addProperty("regions_moved_at_release", counts.movedAtRelease());
        json.addProperty("regions_moved_by_search", counts.movedBySearch());
        json.addProperty("regions_lost", counts.lost());
        CostMeter meter = far.meter();
        put(json, "objectives_missed_pct", meter.objectivesMissedPercent());
        put(json, "cost_pct_of_full_price", meter.costPercentOfFullPrice());
        put(json, "cost_pct_of_larger_machines", meter.costPercentOfLargerMachines());
        JsonObject memory = new JsonObject();
        new TreeMap<>(meter.memoryPercents()).forEach((name, percent) -> put(memory, name, percent));
        json.add("memory_pct", memory);
        return json;
    }

    JsonObject json() {
        JsonObject json = new JsonObject();
        json.add("fitted", fitted());
        json.add("unallocated_pct", quantiles(census::unallocated, PERCENTS));
        json.add("stranded_pct", quantiles(census::stranded, PERCENTS));
        json.add("cores_in_use_pct", quantiles(census::coresInUse, PERCENTS));
        json.add("stranding_minutes", quantiles(census::stranding, QUARTILES));
        JsonObject reach = new JsonObject();
        for (int level = 0; level < 3; level++) {
            put(reach, String.valueOf(2 * level + 1), census.reach(level, 50));
        }
        json.add("reach_tb", reach);
        caches().entrySet().forEach(field -> json.add(field.getKey(), field.getValue()));
        TimedAllocator allocator = far.allocator();
        put(json, "allocations_per_s", allocator.perSecond());
        put(json, "slowest_allocation_us", allocator.slowestMicros());
        put(json, "p999_allocation_us", allocator.micros(99.9));
        return json;
    }

    /** Returns what was fitted to the paper and not observed, and how near the simulation comes to it. */
    private JsonObject fitted() {
        JsonObject json = new JsonObject();
        JsonArray parameters = new JsonArray();
        SimulationParameters.FITTED.forEach(parameters::add);
        json.add("parameters", parameters);
        JsonArray figures = new JsonArray();
        Stream.concat(PaperQuantile.ALL.stream(), PaperQuantile.SPREADS.stream())
                .forEach(figure -> {
                    JsonObject one = new JsonObject();
                    one.addProperty("figure", figure.what());
                    one.addProperty("unit", figure.unit());
                    one.addProperty(figure.atLeast() ? "paper_at_least" : "paper", figure.paper());
                    put(one, "simulated", figure.simulated().applyAsDouble(census));
                    one.addProperty("missed", figure.misses(census));
                    figures.add(one);
                });
        json.add("figures", figures);
        return json;
    }

    private static JsonObject quantiles(DoubleUnaryOperator at, int[] percents) {
        JsonObject json = new JsonObject();
        for (int percent : percents) {
            put(json, "p" + percent, at.applyAsDouble(percent));
        }
        return json;
    }

    /** Puts a figure, rounded to three decimals; null if there is no such figure. */
    static void put(JsonObject json, String name, double value) {
        json.add(
                name,
                Double.isFinite(value) ? new JsonPrimitive(Math.rint(value * DECIMALS) / DECIMALS) : JsonNull.INSTANCE);
    }

    static String text(JsonObject json) {
        return new GsonBuilder().serializeNulls().setPrettyPrinting().create().toJson(json) + "\n";
    }
}
