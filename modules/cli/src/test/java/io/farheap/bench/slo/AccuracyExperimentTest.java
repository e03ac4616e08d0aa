package io.farheap.bench.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Rotation;
import io.farheap.slo.Configuration;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.SimulatedSystem;
import io.farheap.slo.Slo;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AccuracyExperimentTest {

    private static final int TURNS = 3;

    private final ModelSubject subject = new ModelSubject("simulated", "none", 1, 64, 50, 2, 8);
    private final SimulatedSystem system = new SimulatedSystem(subject, 0, 1);
    private final PerformanceModel model = model();
    private final List<Configuration> order = new ArrayList<>();
    private long now;

    private PerformanceModel model() {
        MeasurementPlan plan = new MeasurementPlan(subject);
        while (!plan.complete()) {
            plan.record(system.measure(plan.next()));
        }
        return plan.model();
    }

    @Test
    void whatItDrawsCanBeMetAsPredicted() {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0.1, 7);
        List<SloChoice> choices = experiment.draw(50);
        assertEquals(50, choices.size());
        assertTrue(experiment.drawn() > 50, "some objectives between the lowest and the highest figures cannot be met");
        for (SloChoice choice : choices) {
            assertTrue(choice.slo().withMargin(0.1).metBy(choice.chosen().predicted()));
            assertTrue(choice.slo().reads().latencyNanos()
                            >= model.readLatencyNanos().low()
                    && choice.slo().reads().latencyNanos()
                            <= model.readLatencyNanos().high());
            assertTrue(
                    choice.slo().writes().perSecond() >= model.writesPerSecond().low()
                            && choice.slo().writes().perSecond()
                                    <= model.writesPerSecond().high());
        }
        assertEquals(
                choices.stream().map(SloChoice::slo).toList(),
                new AccuracyExperiment(model, 0.1, 7)
                        .draw(50).stream().map(SloChoice::slo).toList());
        assertFalse(choices.get(0)
                .slo()
                .equals(new AccuracyExperiment(model, 0.1, 8).draw(1).get(0).slo()));
    }

    /** Measures all in turns; each turn takes 1 by the clock. */
    private void measure(AccuracyExperiment experiment, int warmUp, UnaryOperator<Performance> change)
            throws InterruptedException {
        measure(
                experiment,
                warmUp,
                (configuration, turn) ->
                        new ConfigurationTurns.Turn(change.apply(system.measure(configuration)), 50, List.of()));
    }

    private void measure(
            AccuracyExperiment experiment,
            int warmUp,
            BiFunction<Configuration, Integer, ConfigurationTurns.Turn> measurement)
            throws InterruptedException {
        Map<Configuration, Integer> taken = new HashMap<>();
        experiment.measure(
                3,
                configuration -> {
                    now++;
                    order.add(configuration);
                    return measurement.apply(configuration, taken.merge(configuration, 1, Integer::sum) - 1);
                },
                TURNS,
                warmUp,
                () -> now);
    }

    @Test
    void aSystemThatDoesWhatItDidMeetsThem() throws InterruptedException {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0.1, 1);
        List<SloChoice> choices = experiment.draw(50);
        measure(experiment, 0, performance -> performance);
        List<SloResult> results = experiment.results();
        assertEquals(choices, results.stream().map(SloResult::choice).toList());
        for (SloResult result : results) {
            assertEquals(system.measure(result.choice().chosen().configuration()), result.real());
            assertEquals(50, result.coresNanos());
        }
        long met = results.stream().filter(SloResult::met).count();
        // Between measured points it is not quite linear.
        assertTrue(met >= 45, () -> met + " of 50");
    }

    @Test
    void aSystemThatHasBecomeSlowerMissesThem() throws InterruptedException {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0, 1);
        experiment.draw(20);
        measure(experiment, 0, (configuration, turn) -> {
            Performance was = model.predict(configuration).orElseThrow();
            return new ConfigurationTurns.Turn(
                    new Performance(
                            2 * was.readLatencyNanos(),
                            was.readsPerSecond() / 4,
                            1.5 * was.writeLatencyNanos(),
                            was.writesPerSecond() / 2),
                    50,
                    List.of());
        });
        for (SloResult result : experiment.results()) {
            assertEquals(0.5, result.latencyError(), 1e-9);
            assertEquals(3, result.throughputError(), 1e-9);
            assertEquals(result.latencyMet() && result.throughputMet(), result.met());
        }
        assertTrue(
                experiment.results().stream().filter(SloResult::throughputMet).count() < 10);
    }

    @Test
    void theBestFixedConfigurationIsTheOneThatMeetsMost() {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0, 3);
        List<Slo> slos = experiment.draw(30).stream().map(SloChoice::slo).toList();
        Configuration best = experiment.fixedBaselines(1).getFirst();
        int met = experiment.fixedMet(model.predict(best).orElseThrow());
        assertEquals(
                slos.stream()
                        .filter(slo -> slo.metBy(model.predict(best).orElseThrow()))
                        .count(),
                met);
        assertTrue(model.space().stream()
                .allMatch(
                        other -> model.predict(other).map(experiment::fixedMet).orElse(0) <= met));
        assertEquals(model.space().size(), model.space().stream().distinct().count());
    }

    /** The best single configuration is not the last that is measured: it takes turns with those chosen. */
    @Test
    void chosenAndFixedConfigurationsTakeTurnsInAnOrderThatRotates() throws InterruptedException {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0, 3);
        experiment.draw(20);
        measure(experiment, 0, performance -> performance);
        List<Configuration> all = Stream.concat(
                        experiment.results().stream()
                                .map(result -> result.choice().chosen().configuration()),
                        experiment.fixedBaselines(3).stream())
                .distinct()
                .toList();
        int turns = Rotation.turns(all.size(), TURNS);
        assertEquals(turns, experiment.turns());
        Rotation rotation = new Rotation(all.size(), turns);
        assertEquals(turns * all.size(), order.size());
        for (int turn = 0; turn < turns; turn++) {
            assertEquals(
                    IntStream.of(rotation.order(turn)).mapToObj(all::get).toList(),
                    order.subList(turn * all.size(), (turn + 1) * all.size()));
        }
        assertEquals(
                experiment.fixedBaselines(3),
                experiment.fixed().stream()
                        .map(MeasuredConfiguration::configuration)
                        .toList());
    }

    @Test
    void aResultHasTheMediansOfItsTurnsAndTheLateOperationsOfThemTogether() throws InterruptedException {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0, 3);
        experiment.draw(1);
        // Any warm-up: one turn of each configuration, which is too short to settle.
        measure(
                experiment,
                1,
                (configuration, turn) -> new ConfigurationTurns.Turn(
                        // The first turn is the warm-up's.
                        new Performance(100 * turn + 1, 1e6, 100 * turn + 51, 1e6),
                        turn,
                        List.of(new ModelLateness.Counts(true, 1_000, turn == 2 ? 35 : 5))));
        MeasuredConfiguration measured = experiment.results().getFirst().measured();
        assertEquals(new Performance(201, 1e6, 251, 1e6), measured.real());
        assertEquals(new Quartiles(176, 226, 276), measured.latencyNanos());
        assertEquals(2, measured.coresNanos());
        assertEquals(1.5, measured.validity().latePercent());
        assertTrue(measured.validity().invalid());
        assertFalse(measured.settled());
    }
}
