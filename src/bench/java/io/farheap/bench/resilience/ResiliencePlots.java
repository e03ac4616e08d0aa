package io.farheap.bench.resilience;

import io.farheap.command.Plot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Plots of requests of a page: latency over memory (as Hydra's figure 1), 99th percentiles by fault (as figures 11 and
 * 12), and the probability of loss over memory (as figure 2). One thread.
 */
final class ResiliencePlots {

    private final Map<String, ResultRows.FigureRow> figures = new LinkedHashMap<>();
    private final Set<String> systems = new LinkedHashSet<>();
    private final Set<String> faults = new LinkedHashSet<>();

    void add(ResultRows.FigureRow figure) {
        if (figure.access().bytes() == figure.kind().pageBytes()) {
            systems.add(figure.kind().name());
            faults.add(figure.fault());
            figures.put(key(figure.kind().name(), figure.access().op(), figure.fault()), figure);
        }
    }

    private static String key(String system, String op, String fault) {
        return system + " " + op + " " + fault;
    }

    /** Returns no plot if no request was measured. */
    Plot[] plots() {
        List<Plot> plots = new ArrayList<>();
        for (String op : List.of("read", "write")) {
            if (faults.contains(FaultOptions.NONE)) {
                plots.add(overMemory(op));
            }
            if (!faults.isEmpty()) {
                plots.add(byFault(op));
            }
        }
        if (faults.contains(FaultOptions.NONE)) {
            plots.add(lossOverMemory());
        }
        return plots.toArray(Plot[]::new);
    }

    private Plot lossOverMemory() {
        Plot plot = Plot.lines(
                "resilience-loss-memory",
                "%d of %,d servers die at once".formatted(LossProbability.DEAD, LossProbability.SERVERS),
                "bytes of servers for each byte",
                "probability that something is lost");
        for (String system : systems) {
            ResultRows.FigureRow figure = figures.get(key(system, "read", FaultOptions.NONE));
            double probability = figure == null ? 0 : LossProbability.of(figure.kind());
            // A logarithmic axis has no 0, so a system that loses nothing is not drawn.
            if (figure != null && probability > 0) {
                plot.series(system, new double[] {figure.memoryOverhead()}, new double[] {probability});
            }
        }
        return plot.logarithmicY();
    }

    /** Draws a line for each system from the median up to the 99th percentile. */
    private Plot overMemory(String op) {
        Plot plot = Plot.lines(
                "resilience-" + op + "-memory",
                "A " + op + " of a page, p50 to p99, over memory",
                "bytes of servers for each byte",
                "ns");
        for (String system : systems) {
            ResultRows.FigureRow figure = figures.get(key(system, op, FaultOptions.NONE));
            if (figure != null && measured(figure)) {
                double memory = figure.memoryOverhead();
                plot.series(system, new double[] {memory, memory}, new double[] {
                    figure.tally().median(), figure.tally().tail()
                });
            }
        }
        return plot.logarithmicY();
    }

    private Plot byFault(String op) {
        Plot plot = Plot.bars("resilience-" + op + "-faults", "p99 of a " + op + " of a page, by fault", "fault", "ns");
        List<String> categories = List.copyOf(faults);
        for (String system : systems) {
            List<@Nullable Double> tails = new ArrayList<>();
            for (String fault : categories) {
                ResultRows.FigureRow figure = figures.get(key(system, op, fault));
                tails.add(figure != null && measured(figure) ? figure.tally().tail() : null);
            }
            if (tails.stream().anyMatch(tail -> tail != null)) {
                plot.series(system, categories, tails);
            }
        }
        return plot.logarithmicY();
    }

    private static boolean measured(ResultRows.FigureRow figure) {
        return Double.isFinite(figure.tally().median());
    }
}
