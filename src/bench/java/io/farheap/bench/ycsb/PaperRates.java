package io.farheap.bench.ycsb;

import io.farheap.command.Plot;
import java.util.List;
import java.util.Map;

/** Rates that the paper's text gives for its figures 18 and 19, for plots. Its "less than 0.1" is 0.1 here. */
final class PaperRates {

    private PaperRates() {}

    /** Adds bars of the paper beside those of the same name here: its SSD beside the file. */
    static void add(Plot plot, List<String> names, KeyDistribution distribution, int valueBytes) {
        if (distribution != KeyDistribution.UNIFORM) {
            return;
        }
        if (valueBytes == Long.BYTES) {
            series(plot, "paper, 1 thread", names, Map.of(Contest.FAR, 0.8e6, Contest.FILE, 0.1e6));
            series(plot, "paper, 2 threads", names, Map.of(Contest.FAR, 1.6e6, Contest.FILE, 0.15e6));
        } else {
            series(plot, "paper, 4 threads", names, Map.of(Contest.FAR, 0.9e6, Contest.FILE, 0.045e6));
        }
    }

    private static void series(Plot plot, String title, List<String> names, Map<String, Double> rates) {
        if (names.stream().anyMatch(rates::containsKey)) {
            plot.series(title, names, names.stream().map(rates::get).toList());
        }
    }

    /** Adds the rates with no and with all memory local, four threads, as parts of the rate with all memory local. */
    static void addFigure19(Plot plot) {
        double[] ends = {0, 100};
        plot.series("paper, Redy", ends, new double[] {1.4 / 5, 1});
        plot.series("paper, SMB Direct", ends, new double[] {0.15 / 5, 1});
        plot.series("paper, SSD", ends, new double[] {0.12 / 5, 1});
    }
}
