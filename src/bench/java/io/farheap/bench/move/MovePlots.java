package io.farheap.bench.move;

import io.farheap.command.Plot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Plots what a load loses while regions move, by the way they move (Redy, figures 15 and 16). */
public final class MovePlots {

    /** A case in which regions moved. */
    record Result(MoveCase how, MoveFigures reads, MoveFigures writes) {

        boolean invalid() {
            return reads.validity().worse(writes.validity()).invalid();
        }
    }

    private final Map<String, List<Result>> series = new LinkedHashMap<>();

    /** Adds a case; one in which no region moved is not in the plots. */
    public void add(MoveCase how, MoveFigures reads, MoveFigures writes) {
        if (how.move() > 0) {
            series.computeIfAbsent(title(how), ignored -> new ArrayList<>()).add(new Result(how, reads, writes));
        }
    }

    private static String title(MoveCase how) {
        return "writes wait for the " + how.name() + (how.options().unpausedReads() ? "" : ", reads too");
    }

    /**
     * @param name the beginning of the files' names
     * @param when the load runs
     * @return none if no valid figures were added
     */
    public Plot[] plots(String name, String when) {
        if (series.values().stream().flatMap(List::stream).allMatch(Result::invalid)) {
            return new Plot[0];
        }
        Plot reads = Plot.bars(name + "-reads", "Reads while " + when, "regions that move", "throughput drop, %");
        Plot writes = Plot.bars(name + "-writes", "Writes while " + when, "regions that move", "throughput drop, %");
        Plot pauses = Plot.bars(
                name + "-pauses", "The longest time that a write waited while " + when, "regions that move", "us");
        draw(reads, result -> result.reads().dropPercent());
        draw(writes, result -> result.writes().dropPercent());
        draw(pauses, result -> result.writes().longestMicros());
        return new Plot[] {reads, writes, pauses.logarithmicY()};
    }

    private void draw(Plot plot, ToDoubleFunction<Result> value) {
        series.forEach((title, results) -> {
            List<@Nullable Double> bars = bars(results, value);
            if (bars.stream().anyMatch(Objects::nonNull)) {
                plot.series(
                        title,
                        results.stream()
                                .map(result -> String.valueOf(result.how().move()))
                                .toList(),
                        bars);
            }
        });
    }

    /** Returns the cases that were added, by the titles of their series. */
    Map<String, List<Result>> results() {
        return series;
    }

    /**
     * Returns a bar for each case. A plot compares cases, so the bar of an invalid one is null; it keeps its place,
     * since the places of a series' bars are those of the categories.
     */
    static List<@Nullable Double> bars(List<Result> results, ToDoubleFunction<Result> value) {
        List<@Nullable Double> bars = new ArrayList<>();
        for (Result result : results) {
            bars.add(result.invalid() ? null : Double.valueOf(value.applyAsDouble(result)));
        }
        return bars;
    }
}
