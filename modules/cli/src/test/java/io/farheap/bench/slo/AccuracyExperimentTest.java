package io.farheap.bench.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.slo.Configuration;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.SimulatedSystem;
import io.farheap.slo.Slo;
import java.util.List;
import org.junit.jupiter.api.Test;

class AccuracyExperimentTest {

    private final ModelSubject subject = new ModelSubject("simulated", "none", 1, 64, 50, 2, 8);
    private final SimulatedSystem system = new SimulatedSystem(subject, 0, 1);
    private final PerformanceModel model = model();

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

    @Test
    void aSystemThatDoesWhatItDidMeetsThem() throws InterruptedException {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0.1, 1);
        for (SloChoice choice : experiment.draw(50)) {
            SloResult result = experiment.measure(choice, system);
            assertEquals(system.measure(choice.chosen().configuration()), result.real());
        }
        long met = experiment.results().stream().filter(SloResult::met).count();
        // Between measured points it is not quite linear.
        assertTrue(met >= 45, () -> met + " of 50");
    }

    @Test
    void aSystemThatHasBecomeSlowerMissesThem() throws InterruptedException {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0, 1);
        for (SloChoice choice : experiment.draw(20)) {
            Performance was = choice.chosen().predicted();
            SloResult result = experiment.measure(
                    choice,
                    configuration -> new Performance(
                            2 * was.readLatencyNanos(),
                            was.readsPerSecond() / 4,
                            1.5 * was.writeLatencyNanos(),
                            was.writesPerSecond() / 2));
            assertEquals(0.5, result.latencyError(), 1e-9);
            assertEquals(3, result.throughputError(), 1e-9);
            assertEquals(result.latencyMet() && result.throughputMet(), result.met());
        }
        assertTrue(
                experiment.results().stream().filter(SloResult::throughputMet).count() < 10);
    }

    @Test
    void theBestFixedConfigurationIsTheOneThatMeetsMost() throws InterruptedException {
        AccuracyExperiment experiment = new AccuracyExperiment(model, 0, 3);
        for (SloChoice choice : experiment.draw(30)) {
            experiment.measure(choice, system);
        }
        List<Slo> slos = experiment.results().stream()
                .map(result -> result.choice().slo())
                .toList();
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
}
