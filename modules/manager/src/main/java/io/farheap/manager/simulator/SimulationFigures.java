package io.farheap.manager.simulator;

import io.farheap.command.Plot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.DoubleUnaryOperator;

/** Plots the paper's figures 1 and 2 from a simulation. */
final class SimulationFigures {

    private static final int POINTS = 101;
    /**
     * The least value on an axis: the reach of a server and the length of a stranding may be 0, which is drawn at the
     * left end.
     */
    private static final double LEAST = 0.01;

    private SimulationFigures() {}

    /** @param origin lines of text below each plot */
    static void write(DataCenterCensus census, Path directory, List<String> origin) throws IOException {
        Files.createDirectories(directory);
        Plot reach = Plot.lines(
                        "stranded-reach",
                        "Stranded memory that a server reaches (figure 1)",
                        "TB",
                        "part of servers with that much or less, %")
                .logarithmicX();
        String[] names = {"1 switch", "3 switches", "5 switches"};
        for (int level = 0; level < names.length; level++) {
            int switches = level;
            distribution(reach, names[level], percentile -> census.reach(switches, percentile));
        }
        reach.series("the paper's medians", new double[] {1, 30, 100}, new double[] {50, 50, 50});
        reach.write(directory, origin);
        Plot durations = Plot.lines(
                        "stranding-duration",
                        "How long memory is stranded (figure 2)",
                        "minutes",
                        "part of strandings that last as long or less, %")
                .logarithmicX();
        distribution(durations, "simulated", census::stranding);
        durations.series("the paper's quartiles", new double[] {6, 13, 22}, new double[] {25, 50, 75});
        durations.write(directory, origin);
    }

    private static void distribution(Plot plot, String name, DoubleUnaryOperator at) {
        double[] values = new double[POINTS];
        double[] percents = new double[POINTS];
        for (int i = 0; i < POINTS; i++) {
            percents[i] = i;
            values[i] = Math.max(LEAST, at.applyAsDouble(percents[i]));
        }
        plot.series(name, values, percents);
    }
}
