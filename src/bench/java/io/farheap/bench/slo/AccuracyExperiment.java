package io.farheap.bench.slo;

import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.slo.CandidateConfiguration;
import io.farheap.slo.Configuration;
import io.farheap.slo.ExactSearch;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.SearchResult;
import io.farheap.slo.Slo;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Measures how accurate a model's predictions are (Redy, section 7.3): objectives are drawn between the lowest and the
 * highest figures of the model, latency and throughput independently and uniformly; for each objective that can be met,
 * a configuration is searched and measured, in turns with the configurations of which each alone would meet the most
 * objectives. One draw sets the bounds of reads and of writes at the same relative place between their own lowest and
 * highest figures: under a fixed mix both are as frequent as the mix says. One thread at a time.
 */
public final class AccuracyExperiment {

    /** The most draws for each wanted objective. */
    private static final int MOST_DRAWS = 100;

    private static final int WARM_UPS = 2_000;

    private final PerformanceModel model;
    private final double margin;
    private final SplittableRandom random;
    private final ExactSearch search = new ExactSearch();
    private final List<SloChoice> choices = new ArrayList<>();
    private final List<SloResult> results = new ArrayList<>();
    private final List<MeasuredConfiguration> fixed = new ArrayList<>();
    private int drawn;
    /** Turns of each configuration that counted. */
    private int counted;

    /**
     * @param margin by which predictions have to be better than the objective
     * @param seed of the objectives
     */
    public AccuracyExperiment(PerformanceModel model, double margin, long seed) {
        this.model = model;
        this.margin = margin;
        this.random = new SplittableRandom(seed);
    }

    /**
     * Draws the objectives, until that many of them can be met, or it turns out that hardly any can. Called once.
     *
     * @return the objectives that can be met, with the chosen configurations
     */
    public List<SloChoice> draw(int count) {
        SplittableRandom warmUp = new SplittableRandom(count);
        for (int i = 0; i < WARM_UPS; i++) {
            search.find(model, draw(warmUp).withMargin(margin));
        }
        while (choices.size() < count && drawn < MOST_DRAWS * count) {
            Slo slo = draw(random);
            long start = System.nanoTime();
            SearchResult found = search.find(model, slo.withMargin(margin));
            long nanos = System.nanoTime() - start;
            drawn++;
            if (found.feasible()) {
                CandidateConfiguration candidate = new CandidateConfiguration(
                        Objects.requireNonNull(found.found()), Objects.requireNonNull(found.predicted()));
                choices.add(new SloChoice(slo, candidate, nanos));
            }
        }
        return List.copyOf(choices);
    }

    /** Returns how many objectives were drawn, including those that cannot be met. */
    public int drawn() {
        return drawn;
    }

    private Slo draw(SplittableRandom random) {
        double latency = random.nextDouble();
        double throughput = random.nextDouble();
        return new Slo(
                objective(model.readLatencyNanos(), latency, model.readsPerSecond(), throughput),
                objective(model.writeLatencyNanos(), latency, model.writesPerSecond(), throughput));
    }

    private static Objective objective(
            PerformanceModel.Range latency,
            double latencyShare,
            PerformanceModel.Range perSecond,
            double throughputShare) {
        return perSecond.high() == 0
                ? Objective.NONE
                : new Objective(latency.at(latencyShare), perSecond.at(throughputShare));
    }

    /**
     * Measures the configurations that were chosen for the objectives drawn, and candidates for the best single one.
     * All take turns, in an order that rotates; one that is chosen more than once is measured like the others.
     *
     * @param baselines how many candidates
     * @param turns of each configuration that count
     * @param warmUpNanos the most time before these turns, for all configurations together
     * @param clock in ns, such as {@code System::nanoTime}
     */
    void measure(
            int baselines,
            ConfigurationTurns.TurnMeasurement measurement,
            int turns,
            long warmUpNanos,
            LongSupplier clock)
            throws InterruptedException {
        List<Configuration> candidates = fixedBaselines(baselines);
        List<Configuration> all = Stream.concat(
                        choices.stream().map(choice -> choice.chosen().configuration()), candidates.stream())
                .distinct()
                .toList();
        TurnWarmUp warmUp = new TurnWarmUp(all.size(), 0, warmUpNanos, clock);
        List<MeasuredConfiguration> measured = ConfigurationTurns.take(all, measurement, warmUp, turns);
        counted = Rotation.turns(all.size(), turns);
        for (SloChoice choice : choices) {
            results.add(new SloResult(
                    choice, measured.get(all.indexOf(choice.chosen().configuration()))));
        }
        for (Configuration candidate : candidates) {
            fixed.add(measured.get(all.indexOf(candidate)));
        }
    }

    /** Returns the turns of each configuration that counted. */
    int turns() {
        return counted;
    }

    /** Returns the result of each objective, in the order in which they were drawn. */
    public List<SloResult> results() {
        return List.copyOf(results);
    }

    /** Returns the figures of the candidates for the best single configuration. */
    public List<MeasuredConfiguration> fixed() {
        return List.copyOf(fixed);
    }

    /**
     * Returns the configurations of which each alone would meet the most objectives, by the model's predictions.
     *
     * @param most how many configurations
     */
    public List<Configuration> fixedBaselines(int most) {
        List<Configuration> all = model.space().stream()
                .filter(configuration -> model.predict(configuration).isPresent())
                .toList();
        int[] met = all.stream()
                .mapToInt(configuration -> fixedMet(model.predict(configuration).orElseThrow()))
                .toArray();
        return IntStream.range(0, met.length)
                .boxed()
                .sorted((a, b) -> met[b] - met[a])
                .limit(most)
                .map(all::get)
                .toList();
    }

    /** Returns how many of the objectives one performance meets. */
    public int fixedMet(Performance performance) {
        return (int) choices.stream()
                .filter(choice -> choice.slo().metBy(performance))
                .count();
    }
}
