package io.farheap.bench.move;

import io.farheap.command.Plot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Plots what a load loses while regions move, by the way they move (Redy, figures 15 and 16). */
public final class MovePlots {

    private record Result(MoveCase how, MoveFigures reads, MoveFigures writes) {}

    private final Map<String, List<Result>> series = new LinkedHashMap<>();

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
     * @return none if nothing has moved
     */
    public Plot[] plots(String name, String when) {
        if (series.isEmpty()) {
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
        series.forEach((title, results) -> plot.series(
                title,
                results.stream()
                        .map(result -> String.valueOf(result.how().move()))
                        .toList(),
                results.stream().map(value::applyAsDouble).toList()));
    }
}
