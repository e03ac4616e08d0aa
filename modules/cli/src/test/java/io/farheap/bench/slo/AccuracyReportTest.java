package io.farheap.bench.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.TimingNote;
import io.farheap.slo.Configuration;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.slo.SimulatedSystem;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The report on a simulated system, which is slower in the rows that are invalid. */
class AccuracyReportTest {

    private static final int COUNT = 20;
    private static final long OPERATIONS = 1_000;

    private final ModelSubject subject = new ModelSubject("simulated", "none", 1, 64, 50, 2, 8);
    private final SimulatedSystem system = new SimulatedSystem(subject, 0, 1);
    private final BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench slo");

    private AccuracyReport measure(Predicate<Configuration> late) throws InterruptedException {
        AccuracyExperiment experiment = draw();
        return measure(experiment, late);
    }

    private AccuracyExperiment draw() {
        MeasurementPlan plan = new MeasurementPlan(subject);
        while (!plan.complete()) {
            plan.record(system.measure(plan.next()));
        }
        AccuracyExperiment experiment = new AccuracyExperiment(plan.model(), 0.1, 1);
        assertEquals(COUNT, experiment.draw(COUNT).size());
        return experiment;
    }

    private AccuracyReport measure(AccuracyExperiment experiment, Predicate<Configuration> late)
            throws InterruptedException {
        experiment.measure(
                1,
                configuration -> {
                    boolean spoilt = late.test(configuration);
                    Performance was = system.measure(configuration);
                    Performance slow = new Performance(
                            100 * was.readLatencyNanos(),
                            was.readsPerSecond() / 100,
                            100 * was.writeLatencyNanos(),
                            was.writesPerSecond() / 100);
                    return new ConfigurationTurns.Turn(
                            spoilt ? slow : was,
                            50,
                            List.of(new ModelLateness.Counts(true, OPERATIONS, spoilt ? OPERATIONS : 0)));
                },
                1,
                0,
                () -> 0);
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);
        AccuracyReport figures = new AccuracyReport(
                experiment, COUNT, 0.1, subject.recordBytes(), 1, new TimingNote(20, false, true), nowhere);
        figures.print();
        figures.summarize(report, 0);
        return figures;
    }

    private JsonObject json() {
        return JsonParser.parseString(report.json()).getAsJsonObject();
    }

    @Test
    void invalidRowsHaveNoErrorAndDoNotCount() throws InterruptedException {
        AccuracyReport figures = measure(configuration -> configuration.serverThreads() == 0);
        JsonObject summary = json();
        int invalid = 0;
        int met = 0;
        for (JsonElement each : summary.getAsJsonArray("rows")) {
            JsonObject row = each.getAsJsonObject();
            boolean spoilt = row.get("s").getAsInt() == 0;
            assertEquals(spoilt, row.get("invalid").getAsBoolean());
            assertEquals(spoilt, row.get("latency_error").isJsonNull(), row::toString);
            assertEquals(spoilt, row.get("throughput_error").isJsonNull(), row::toString);
            invalid += spoilt ? 1 : 0;
            met += !spoilt
                            && row.get("latency_met").getAsBoolean()
                            && row.get("throughput_met").getAsBoolean()
                    ? 1
                    : 0;
        }
        assertTrue(invalid > 0 && invalid < COUNT, "this test needs rows of both kinds: " + invalid);
        assertEquals(invalid, summary.get("invalid_rows").getAsInt());
        assertEquals(met, summary.get("met").getAsInt());
        assertTrue(summary.get("latency_error_p95").getAsDouble() < 0.5, summary::toString);
        assertTrue(summary.get("throughput_error_p95").getAsDouble() < 0.5, summary::toString);
        assertTrue(summary.get("beyond_baseline").getAsInt() <= COUNT - invalid, summary::toString);
        assertEquals(2, figures.plots().length);
    }

    @Test
    void ifAllRowsAreInvalidThereIsNoErrorAndNoPlot() throws InterruptedException {
        AccuracyReport figures = measure(configuration -> true);
        assertTrue(json().get("latency_error_p50").isJsonNull());
        assertEquals(0, json().get("met").getAsInt());
        assertEquals(0, figures.plots().length);
    }

    /** The chosen configurations are counted over valid rows, so the one that is compared with them is, too. */
    @Test
    void theBestSingleConfigurationIsCountedOverValidRows() throws InterruptedException {
        AccuracyExperiment experiment = draw();
        Configuration single = experiment.fixedBaselines(1).getFirst();
        Performance real = system.measure(single);
        measure(experiment, configuration -> !configuration.equals(single) && configuration.serverThreads() > 0);
        long all = experiment.fixedMet(real);
        long valid = experiment.results().stream()
                .filter(result -> !result.measured().validity().invalid())
                .filter(result -> result.choice().slo().metBy(real))
                .count();
        assertTrue(valid < all, "this test needs an invalid row that the configuration meets: " + valid + " of " + all);
        assertEquals(valid, json().get("fixed_baseline_met").getAsLong());
    }

    @Test
    void aConfigurationWithInvalidFiguresIsNotTheBest() throws InterruptedException {
        AccuracyExperiment experiment = draw();
        Configuration single = experiment.fixedBaselines(1).getFirst();
        measure(experiment, single::equals);
        assertTrue(json().get("fixed_baseline").isJsonNull());
        assertFalse(json().has("fixed_baseline_late_pct"));
    }
}
