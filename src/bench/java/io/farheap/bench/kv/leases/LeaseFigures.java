package io.farheap.bench.kv.leases;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Samples;
import java.util.LinkedHashMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/** The figures of all plays of one side. One thread. */
final class LeaseFigures {

    private final Map<String, Samples> figures = new LinkedHashMap<>();
    private final Map<String, Histogram> latency = new LinkedHashMap<>();
    private long plays;

    void add(LeasePlay play) {
        play.figures().forEach(this::add);
        play.latency()
                .forEach((kind, each) -> latency.computeIfAbsent(kind, added -> new Histogram(3))
                        .add(each));
        plays++;
    }

    /** Adds one value of a figure, of the play that was added last. */
    void add(String name, double value) {
        figures.computeIfAbsent(name, added -> new Samples()).add(value);
    }

    /** Returns the median of a figure; not a number if there is none. */
    double median(String name) {
        Samples samples = figures.get(name);
        return samples == null ? Double.NaN : samples.median();
    }

    /** Returns the latency of requests by kind, in ns. */
    Map<String, Histogram> latency() {
        return latency;
    }

    /** Puts the medians of the plays, and then their quartiles. */
    void put(BenchReport.Row row) {
        figures.forEach((name, samples) -> row.put(name, samples.median()));
        figures.forEach((name, samples) ->
                row.put(name + "_p25", samples.lowerQuartile()).put(name + "_p75", samples.upperQuartile()));
        row.put("plays", plays);
    }
}
