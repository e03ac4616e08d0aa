package io.farheap.bench.slo;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.TimingNote;
import io.farheap.command.Plot;
import io.farheap.memory.Plurals;
import io.farheap.slo.Configuration;
import io.farheap.slo.Performance;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** The table, the summary and the plots of an {@link AccuracyExperiment}. One thread. */
public final class AccuracyReport {

    private final AccuracyExperiment experiment;
    private final int wanted;
    private final double margin;
    private final int recordBytes;
    private final int turns;
    private final TimingNote note;
    private final PrintStream out;

    /**
     * @param wanted number of objectives that can be met
     * @param turns of each configuration
     */
    AccuracyReport(
            AccuracyExperiment experiment,
            int wanted,
            double margin,
            int recordBytes,
            int turns,
            TimingNote note,
            PrintStream out) {
        this.experiment = experiment;
        this.wanted = wanted;
        this.margin = margin;
        this.recordBytes = recordBytes;
        this.turns = turns;
        this.note = note;
        this.out = out;
    }

    /** Prints the head of the table, and a line for each objective. */
    void print() {
        out.printf(
                Locale.ROOT,
                "%nobjectives drawn uniformly between the model's lowest and highest figures; margin %.3g%%; latency: average from issue to callback; "
                        + "throughput: reads and writes;%n"
                        + "real: medians of %s of each configuration, whose order rotates; %s%n%n",
                100 * margin,
                Plurals.of(turns, "turn"),
                note.sentence());
        out.printf(
                "%-26s%12s%12s%12s%14s%12s%12s%12s  %s%n",
                "#configuration",
                "asked [us]",
                "predicted",
                "real",
                "asked [M/s]",
                "predicted",
                "real",
                "cores [ns]",
                "");
        experiment.results().forEach(this::print);
    }

    private void print(SloResult result) {
        Performance predicted = result.choice().chosen().predicted();
        String missed =
                (result.latencyMet() ? "" : " LATENCY MISSED") + (result.throughputMet() ? "" : " THROUGHPUT MISSED");
        out.printf(
                Locale.ROOT,
                "%-26s%12.2f%12.2f%12.2f%14.3f%12.3f%12.3f%12.0f %s  %s%n",
                result.choice().chosen().configuration(),
                result.askedLatencyNanos() / 1e3,
                predicted.latencyNanos() / 1e3,
                result.measured().latencyNanos().median() / 1e3,
                result.askedPerSecond() / 1e6,
                predicted.throughput() / 1e6,
                result.measured().perSecond().median() / 1e6,
                result.coresNanos(),
                missed,
                result.measured().validity().remark(result.measured().settled()));
    }

    /**
     * Prints the summary and adds it to the report, with a row for each objective.
     *
     * @param others share of the processors that other processes used meanwhile
     */
    public void summarize(BenchReport report, double others) {
        List<SloResult> results = experiment.results();
        List<SloResult> valid = valid();
        long latencyMet = valid.stream().filter(SloResult::latencyMet).count();
        long throughputMet = valid.stream().filter(SloResult::throughputMet).count();
        long met = valid.stream().filter(SloResult::met).count();
        long distinct = results.stream()
                .map(result -> result.choice().chosen().configuration())
                .distinct()
                .count();
        // The one that meets most objectives, the first of equals, as the chosen ones are counted: by valid figures.
        @Nullable
        MeasuredConfiguration best = experiment.fixed().stream()
                .filter(one -> !one.validity().invalid())
                .max(Comparator.comparingLong(one -> met(one, valid)))
                .orElse(null);
        long bestMet = best == null ? 0 : met(best, valid);
        List<SloResult> beyond = valid.stream()
                .filter(result -> best == null || !result.choice().slo().metBy(best.real()))
                .toList();
        long beyondMet = beyond.stream().filter(SloResult::met).count();
        double[] latencyErrors = sorted(valid, SloResult::latencyError);
        double[] throughputErrors = sorted(valid, SloResult::throughputError);
        double[] search = sorted(results, result -> result.choice().searchNanos() / 1e3);
        out.printf(
                Locale.ROOT,
                "%n%d objectives that can be met, of %d drawn; of %d that were validly measured %d are met (latency %d, throughput %d); %d configurations%n",
                results.size(),
                experiment.drawn(),
                valid.size(),
                met,
                latencyMet,
                throughputMet,
                distinct);
        out.printf(
                Locale.ROOT,
                "prediction error, of latency: median %.1f%%, 95th percentile %.1f%%; of throughput: %.1f%%, %.1f%%%n",
                100 * at(latencyErrors, 0.5),
                100 * at(latencyErrors, 0.95),
                100 * at(throughputErrors, 0.5),
                100 * at(throughputErrors, 0.95));
        out.printf(Locale.ROOT, "search: median %.0f us, longest %.0f us%n", at(search, 0.5), at(search, 1));
        if (best != null) {
            out.printf(
                    "the best single configuration, %s, meets %d of these; of the other %d, those chosen meet %d%n",
                    best.configuration(), bestMet, beyond.size(), beyondMet);
        }
        int invalid = results.size() - valid.size();
        long unsettled =
                results.stream().filter(result -> !result.measured().settled()).count();
        out.printf(
                "invalid, and in none of these, since over 1%% of the operations were late: %d; not settled: %d%n",
                invalid, unsettled);
        double[] cores = sorted(results, SloResult::coresNanos);
        out.printf(
                Locale.ROOT,
                "a cache line took %.0f to %.0f ns from core to core and back meanwhile, median %.0f%n",
                at(cores, 0),
                at(cores, 1),
                at(cores, 0.5));
        out.printf(Locale.ROOT, "other programs had %.0f%% of the processors meanwhile%n", 100 * others);
        report.summary()
                .put("count", wanted)
                .put("feasible", results.size())
                .put("drawn", experiment.drawn())
                .put("margin", margin)
                .put("met", met)
                .put("latency_met", latencyMet)
                .put("throughput_met", throughputMet)
                .put("latency_error_p50", at(latencyErrors, 0.5))
                .put("latency_error_p95", at(latencyErrors, 0.95))
                .put("throughput_error_p50", at(throughputErrors, 0.5))
                .put("throughput_error_p95", at(throughputErrors, 0.95))
                .put("search_us_p50", at(search, 0.5))
                .put("search_us_max", at(search, 1))
                .put("distinct_configurations", distinct)
                .put(
                        "fixed_baseline",
                        best == null ? null : best.configuration().toString())
                .put("fixed_baseline_met", bestMet)
                .put("beyond_baseline", beyond.size())
                .put("beyond_baseline_met", beyondMet)
                .put("core_round_trip_ns_min", at(cores, 0))
                .put("core_round_trip_ns_p50", at(cores, 0.5))
                .put("core_round_trip_ns_max", at(cores, 1))
                .put("other_load", others)
                .put("turns", turns)
                .put("invalid_rows", invalid)
                .put("not_settled_rows", unsettled);
        if (best != null) {
            setup(best.configuration()).put(report.summary(), "fixed_baseline_");
            report.summary()
                    .put("fixed_baseline_settled", best.settled())
                    .put("fixed_baseline_late_pct", best.validity().latePercent())
                    .put("fixed_baseline_invalid", best.validity().invalid());
        }
        note.put(report);
        results.forEach(result -> put(report.row(), result));
    }

    /** Returns how many of these objectives one configuration alone meets. */
    private static long met(MeasuredConfiguration one, List<SloResult> some) {
        return some.stream()
                .filter(result -> result.choice().slo().metBy(one.real()))
                .count();
    }

    /** Returns the results that may be compared with what was predicted and asked. */
    private List<SloResult> valid() {
        return experiment.results().stream()
                .filter(result -> !result.measured().validity().invalid())
                .toList();
    }

    /** Each client thread keeps its batches full, and has a buffer for each request under way. */
    private SideSetup setup(Configuration configuration) {
        int inFlight = configuration.clientThreads() * configuration.batchSize() * configuration.queueDepth();
        int threads = configuration.clientThreads() + configuration.serverThreads();
        return new SideSetup(
                (long) inFlight * recordBytes,
                Math.min(threads, Runtime.getRuntime().availableProcessors()),
                inFlight,
                1);
    }

    private void put(BenchReport.Row row, SloResult result) {
        MeasuredConfiguration measured = result.measured();
        Configuration configuration = result.choice().chosen().configuration();
        Performance predicted = result.choice().chosen().predicted();
        row.put("c", configuration.clientThreads())
                .put("s", configuration.serverThreads())
                .put("b", configuration.batchSize())
                .put("q", configuration.queueDepth())
                .put("asked_latency_ns", result.askedLatencyNanos())
                .put("predicted_latency_ns", predicted.latencyNanos())
                .put("real_latency_ns", measured.latencyNanos().median())
                .put("asked_ops_per_s", result.askedPerSecond())
                .put("predicted_ops_per_s", predicted.throughput())
                .put("real_ops_per_s", measured.perSecond().median())
                .put("latency_met", result.latencyMet())
                .put("throughput_met", result.throughputMet())
                .put("latency_error", measured.validity().compared(result.latencyError()))
                .put("throughput_error", measured.validity().compared(result.throughputError()))
                .put("search_us", result.choice().searchNanos() / 1e3)
                .put("core_round_trip_ns", result.coresNanos())
                .put("real_latency_ns_p25", measured.latencyNanos().low())
                .put("real_latency_ns_p75", measured.latencyNanos().high())
                .put("real_ops_per_s_p25", measured.perSecond().low())
                .put("real_ops_per_s_p75", measured.perSecond().high());
        setup(configuration).put(row).put("turns", turns);
        measured.validity().put(row, measured.settled());
    }

    /**
     * Plots Redy's figures 13 and 14: for asked, predicted and real figures, the share up to each value. An invalid
     * result has no part; there is no plot if all are invalid.
     */
    public Plot[] plots() {
        if (valid().isEmpty()) {
            return new Plot[0];
        }
        return new Plot[] {
            plot(
                    "slo-latency",
                    "Latency: asked, predicted, real",
                    "us",
                    SloResult::askedLatencyNanos,
                    Performance::latencyNanos,
                    result -> result.measured().latencyNanos().median(),
                    1e3),
            plot(
                    "slo-throughput",
                    "Throughput: asked, predicted, real",
                    "million operations/s",
                    SloResult::askedPerSecond,
                    Performance::throughput,
                    result -> result.measured().perSecond().median(),
                    1e6),
        };
    }

    private Plot plot(
            String name,
            String title,
            String unit,
            ToDoubleFunction<SloResult> asked,
            ToDoubleFunction<Performance> predicted,
            ToDoubleFunction<SloResult> real,
            double scale) {
        Plot plot = Plot.lines(name, title, unit, "share of the objectives");
        add(plot, "asked", asked, scale);
        add(
                plot,
                "predicted",
                result -> predicted.applyAsDouble(result.choice().chosen().predicted()),
                scale);
        add(plot, "real", real, scale);
        return plot;
    }

    private void add(Plot plot, String title, ToDoubleFunction<SloResult> figure, double scale) {
        double[] x = sorted(valid(), result -> figure.applyAsDouble(result) / scale);
        double[] y = new double[x.length];
        Arrays.setAll(y, i -> (i + 1.0) / y.length);
        plot.series(title, x, y);
    }

    private static double[] sorted(List<SloResult> results, ToDoubleFunction<SloResult> figure) {
        return results.stream().mapToDouble(figure).sorted().toArray();
    }

    /** Returns the smallest value that this share of them does not exceed. */
    private static double at(double[] sorted, double share) {
        return sorted.length == 0
                ? Double.NaN
                : sorted[Math.clamp((long) Math.ceil(share * sorted.length) - 1, 0, sorted.length - 1)];
    }
}
