package io.farheap.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.measure.Measurement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MeasurementPlanTest {

    private static List<Configuration> measured(ModelSubject subject, Measurement measurement)
            throws InterruptedException {
        List<Configuration> measured = new ArrayList<>();
        Models.measured(subject, configuration -> {
            measured.add(configuration);
            return measurement.measure(configuration);
        });
        return measured;
    }

    /**
     * Redy: "These two optimizations reduce the number of measurements for the above example to 1000" (section 5.2).
     */
    @Test
    void theSpaceOfThreeMillionNeedsNoMoreThanRedysThousand() throws InterruptedException {
        ModelSubject subject = Models.paper();
        MeasurementPlan plan = Models.measured(subject, new SimulatedSystem(subject, 0.02, 1));
        assertEquals(3_095_430, plan.model().space().size());
        assertTrue(plan.measured() > 100 && plan.measured() <= 1000, () -> plan.measured() + " measurements");
        assertTrue(plan.leftOut() > 0);
        // The grid has 648 points; the depths 1 and 2, below the lower bound, are measured beside it.
        assertEquals(648 + 2, plan.measured() + plan.leftOut());
    }

    @Test
    void theLowerBoundIsTheLargestDepthThatStillImprovesBoth() throws InterruptedException {
        for (int knee : new int[] {1, 4, 16}) {
            PerformanceModel model = Models.measured(Models.subject(2, 1024, 16), configuration -> {
                        double latency = 1000 + Math.abs(configuration.queueDepth() - knee) * 100;
                        return new Performance(latency, configuration.queueDepth() * 100, latency, 1);
                    })
                    .model();
            assertEquals(knee, model.space().minDepth());
        }
    }

    @Test
    void growthOfBothIsTestedBeyondNoise() {
        Performance before = new Performance(1000, 100, 1000, 100);
        assertTrue(MarginalGain.ends(before, new Performance(1010, 101, 1010, 101)));
        assertFalse(MarginalGain.ends(before, new Performance(1010, 103, 1010, 103)));
        assertFalse(MarginalGain.ends(before, new Performance(970, 100, 970, 100)));
        assertFalse(MarginalGain.improvesBoth(before, new Performance(990, 200, 990, 200)));
        assertTrue(MarginalGain.improvesBoth(before, new Performance(970, 103, 970, 103)));
    }

    /** A busy machine: chance must not leave out what lies beyond. */
    @Test
    void figuresThatHaveNotSettledEndALineOnlyBeyondTheirUncertainty() {
        Performance before = new Performance(1000, 100, 1000, 100);
        Performance equal = new Performance(2000, 100, 2000, 100, 0.1);
        assertTrue(MarginalGain.ends(before, new Performance(2000, 100, 2000, 100, Performance.SETTLED)));
        assertFalse(MarginalGain.ends(before, equal), "it may have 10% more throughput");
        assertFalse(MarginalGain.ends(equal, new Performance(4000, 90, 4000, 90, 0.1)), "both may be 10% off");
        assertTrue(MarginalGain.ends(before, new Performance(2000, 89, 2000, 89, 0.1)));
        assertFalse(MarginalGain.ends(before, new Performance(1050, 50, 1050, 50, 0.1)), "it may have less latency");
        assertFalse(MarginalGain.ends(before, new Performance(9000, 1, 9000, 1, Double.POSITIVE_INFINITY)));
    }

    /** A saturated system: if its figures settle, lines end; if they do not, all is measured. */
    @Test
    void aPredictionSaysWhetherItRestsOnEstimates() throws InterruptedException {
        ModelSubject subject = Models.subject(30, 1024, 4);
        for (double uncertainty : new double[] {0.01, 0.3}) {
            MeasurementPlan plan = Models.measured(subject, configuration -> {
                double nanos =
                        1000.0 * configuration.clientThreads() * configuration.batchSize() * configuration.queueDepth();
                return new Performance(nanos, 1e6, nanos, 1e6, uncertainty);
            });
            PerformanceModel model = plan.model();
            assertEquals(uncertainty > 0.02, plan.leftOut() == 0, () -> plan.leftOut() + " points left out");
            PerformanceModel.Basis far = model.basis(new Configuration(30, 1, 1, 1));
            assertEquals(uncertainty > 0.02 ? 0 : 1, far.estimated());
            assertEquals(uncertainty, far.uncertainty());
            assertFalse(far.isMeasured());
            assertEquals(uncertainty > 0.02, far.toString().contains("known to 30.0%"), far::toString);
            assertEquals(uncertainty < 0.02, far.toString().contains("estimates of 1 of 1 point"), far::toString);
            PerformanceModel.Basis between = model.basis(new Configuration(3, 1, 3, 4));
            assertEquals(4, between.measured() + between.estimated(), "two client threads, two batch sizes");
        }
        assertThrows(IllegalArgumentException.class, () -> Models.measured(subject, new SimulatedSystem(subject, 0, 1))
                .model()
                .basis(new Configuration(31, 0, 1, 4)));
    }

    /**
     * Redy's example: no growth from f(4, 2, 2, 2) to f(8, 2, 2, 2), so f(16, 2, 2, 2) is not measured, and neither is
     * 30.
     */
    @Test
    void aLineEndsWhereThroughputNoLongerGrows() throws InterruptedException {
        Measurement growing = configuration -> {
            int c = configuration.serverThreads() == 2
                            && configuration.batchSize() == 2
                            && configuration.queueDepth() == 2
                    ? Math.min(4, configuration.clientThreads())
                    : configuration.clientThreads();
            double throughput = 1e6
                    * c
                    * (1 + configuration.serverThreads())
                    * configuration.batchSize()
                    * configuration.queueDepth();
            return new Performance(
                    configuration.queueDepth() > 2 ? 2000 : 3000.0 / configuration.queueDepth(),
                    throughput,
                    1500,
                    throughput);
        };
        List<Configuration> measured = measured(Models.subject(30, 1024, 4), growing);
        assertTrue(measured.contains(new Configuration(8, 2, 2, 2)));
        assertFalse(measured.contains(new Configuration(16, 2, 2, 2)));
        assertFalse(measured.contains(new Configuration(30, 2, 2, 2)));
        assertTrue(measured.contains(new Configuration(16, 2, 4, 2)));
        assertTrue(measured.contains(new Configuration(16, 4, 2, 2)));
    }

    /** The server limits the throughput: points left out at more client threads are estimated as they would measure. */
    @Test
    void whatIsLeftOutIsEstimatedByLittlesLaw() throws InterruptedException {
        Measurement limited = configuration -> {
            double perSecond = 1e6 * Math.min(4, configuration.clientThreads());
            double nanos = 1e9
                    * configuration.clientThreads()
                    * configuration.batchSize()
                    * configuration.queueDepth()
                    / perSecond;
            return new Performance(nanos, perSecond, nanos, perSecond);
        };
        MeasurementPlan plan = Models.measured(Models.subject(30, 1024, 4), limited);
        assertTrue(plan.leftOut() > 0);
        PerformanceModel model = plan.model();
        for (int c : new int[] {1, 2, 4, 8, 16, 30}) {
            for (int s : new int[] {0, 1, 2, 4, 8, 16, 30}) {
                for (int b = 1; s <= c && b <= (s == 0 ? 1 : 4); b++) {
                    Configuration configuration = new Configuration(c, s, b, 4);
                    Performance expected = limited.measure(configuration);
                    Performance predicted = model.predict(configuration).orElseThrow();
                    assertEquals(
                            expected.readLatencyNanos(),
                            predicted.readLatencyNanos(),
                            1e-9 * expected.readLatencyNanos(),
                            configuration::toString);
                    assertEquals(
                            expected.writesPerSecond(), predicted.writesPerSecond(), 1e-3, configuration::toString);
                }
            }
        }
    }

    /** Noise could end a line early, and there is time to measure all points. */
    @Test
    void aSmallGridIsMeasuredWhole() throws InterruptedException {
        for (ModelSubject subject :
                List.of(Models.subject(1, 8, 14), Models.subject(2, 1024, 4), Models.subject(2, 8, 14))) {
            MeasurementPlan plan = Models.measured(
                    subject, configuration -> new Performance(1_000 * configuration.queueDepth(), 1e6, 1_000, 1e6));
            boolean small = subject.clientCores() == 1 || subject.recordBytes() > 8;
            assertEquals(small, plan.leftOut() == 0, () -> subject + ": " + plan.leftOut());
        }
    }

    /** A machine that is slower now and then. */
    @Test
    void theWorstOfARoundCounts() throws InterruptedException {
        ModelSubject subject = Models.subject(1, 8, 14);
        List<Configuration> measured = new ArrayList<>();
        int points = measured(subject, configuration -> new Performance(1_000, 1e6, 1_000, 1e6))
                        .size()
                / MeasurementPlan.ROUNDS;
        for (int slow = 0; slow < MeasurementPlan.ROUNDS; slow++) {
            measured.clear();
            int slowRound = slow;
            MeasurementPlan plan = Models.measured(subject, configuration -> {
                int round = measured.size() / points;
                measured.add(configuration);
                double rate = round == slowRound ? 1e6 : 1.5e6;
                return new Performance(
                        1e9 * configuration.queueDepth() / rate, rate, 1e9 * configuration.queueDepth() / rate, rate);
            });
            assertEquals(MeasurementPlan.ROUNDS * points, plan.measured());
            assertEquals(
                    measured.subList(0, points).stream()
                            .sorted(Configuration.CHEAPEST_FIRST)
                            .toList(),
                    measured.subList(points, 2 * points));
            Performance predicted =
                    plan.model().predict(new Configuration(1, 1, 8, 14)).orElseThrow();
            assertEquals(1e6, predicted.readsPerSecond(), 1);
            assertEquals(14_000, predicted.writeLatencyNanos(), 1);
        }
    }

    @Test
    void thePlanFollowsTheTreeAndMeasuresNothingTwice() throws InterruptedException {
        ModelSubject subject = Models.paper();
        List<Configuration> measured = measured(subject, new SimulatedSystem(subject, 0, 1));
        assertEquals(measured.size(), Set.copyOf(measured).size());
        // 1, 2, 4 and 8 give the lower bound, 4.
        List<Configuration> grid = measured.subList(4, measured.size());
        assertEquals(grid.stream().sorted(Configuration.CHEAPEST_FIRST).toList(), grid);
    }

    @Test
    void whatIsLeftIsNeverUnderestimated() throws InterruptedException {
        ModelSubject subject = Models.paper();
        SimulatedSystem system = new SimulatedSystem(subject, 0, 1);
        int total = Models.measured(subject, system).measured();
        MeasurementPlan plan = new MeasurementPlan(subject);
        while (!plan.complete()) {
            assertTrue(plan.atMost() >= total - plan.measured());
            assertThrows(IllegalStateException.class, plan::model);
            plan.record(system.measure(plan.next()));
        }
        assertEquals(0, plan.atMost());
        assertThrows(IllegalStateException.class, plan::next);
    }

    @Test
    void operationsOfAnotherMixAreRefused() {
        MeasurementPlan plan = new MeasurementPlan(new ModelSubject("simulated", "none", 0, 8, 100, 2, 16));
        assertThrows(IllegalArgumentException.class, () -> plan.record(new Performance(1, 1, 1, 1)));
        plan.record(new Performance(1, 1, 0, 0));
        assertThrows(IllegalArgumentException.class, () -> new MeasurementPlan(Models.paper())
                .record(new Performance(1, 1, 0, 0)));
    }
}
