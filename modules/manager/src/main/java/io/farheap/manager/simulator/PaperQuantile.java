package io.farheap.manager.simulator;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * A quantile that the paper gives (Redy, section 2.1), or how far apart two of them are, to compare with that of a
 * simulation.
 *
 * @param atLeast whether the paper gives a lower bound, and not a quantile
 */
record PaperQuantile(
        String what, String unit, double paper, boolean atLeast, ToDoubleFunction<DataCenterCensus> simulated) {

    /** How far a simulation may be off to count as similar. */
    static final double TOLERANCE = 0.2;

    static final List<PaperQuantile> ALL = List.of(
            new PaperQuantile("unallocated memory, p1", "%", 28, false, census -> census.unallocated(1)),
            new PaperQuantile("unallocated memory, p10", "%", 37, false, census -> census.unallocated(10)),
            new PaperQuantile("unallocated memory, p50", "%", 46, false, census -> census.unallocated(50)),
            new PaperQuantile("stranded memory, p50", "%", 8, false, census -> census.stranded(50)),
            new PaperQuantile("stranded memory, p90", "%", 16, false, census -> census.stranded(90)),
            new PaperQuantile("stranded memory, p99", "%", 23, false, census -> census.stranded(99)),
            new PaperQuantile("a stranding lasts, p25", "min", 6, false, census -> census.stranding(25)),
            new PaperQuantile("a stranding lasts, p50", "min", 13, false, census -> census.stranding(50)),
            new PaperQuantile("a stranding lasts, p75", "min", 22, false, census -> census.stranding(75)),
            new PaperQuantile("stranded within 1 switch, p50", "TB", 1, false, census -> census.reach(0, 50)),
            new PaperQuantile("stranded within 3 switches, p50", "TB", 30, false, census -> census.reach(1, 50)),
            new PaperQuantile("stranded within 5 switches, p50", "TB", 100, false, census -> census.reach(2, 50)),
            new PaperQuantile("cores in use, p10", "%", 70, true, census -> census.coresInUse(10)));

    /** How far apart the outer of these quantiles are: each can be near the paper's while the spread is not. */
    static final List<PaperQuantile> SPREADS = List.of(
            new PaperQuantile(
                    "unallocated memory, p1 to p50",
                    "%",
                    18,
                    false,
                    census -> census.unallocated(50) - census.unallocated(1)),
            new PaperQuantile(
                    "stranded memory, p50 to p99", "%", 15, false, census -> census.stranded(99) - census.stranded(50)),
            new PaperQuantile(
                    "a stranding lasts, p25 to p75",
                    "min",
                    16,
                    false,
                    census -> census.stranding(75) - census.stranding(25)));

    /** Returns the deviation from the paper's figure, above or below 0. */
    double deviation(DataCenterCensus census) {
        return simulated.applyAsDouble(census) / paper - 1;
    }

    boolean misses(DataCenterCensus census) {
        return atLeast ? deviation(census) < 0 : Math.abs(deviation(census)) > TOLERANCE;
    }
}
