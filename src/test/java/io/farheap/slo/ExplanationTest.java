package io.farheap.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExplanationTest {

    static LongStream seeds() {
        return Models.seeds(60);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void itChoosesTheCheapestOrNamesTheNearest(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        PerformanceModel model = Models.anyhow(random);
        if (!new ExhaustiveSearch()
                .find(model, new Slo(Objective.NONE, Objective.NONE))
                .feasible()) {
            return;
        }
        for (int i = 0; i < 8; i++) {
            Slo slo = Models.drawn(random, model);
            SearchResult expected = new ExhaustiveSearch().find(model, slo);
            if (expected.feasible()) {
                checkChoice(model, slo, expected, Explanation.of(model, slo));
            } else {
                InfeasibleSloException refused =
                        assertThrows(InfeasibleSloException.class, () -> Explanation.of(model, slo));
                for (NearestFeasible nearest : refused.nearest()) {
                    checkNearest(seed, model, slo, nearest);
                    assertTrue(
                            refused.getMessage()
                                    .contains(nearest.configuration().toString()),
                            refused::getMessage);
                }
                assertTrue(refused.nearest().stream().anyMatch(nearest -> nearest.relaxed() == Relaxation.BOTH));
            }
        }
    }

    private static void checkChoice(PerformanceModel model, Slo slo, SearchResult expected, Explanation explanation) {
        assertEquals(expected.found(), explanation.chosen().configuration());
        assertEquals(model.space().size(), explanation.space());
        List<Configuration> candidates = explanation.candidates().stream()
                .map(CandidateConfiguration::configuration)
                .toList();
        assertEquals(
                candidates.stream()
                        .sorted(Comparator.comparingInt(Configuration::serverThreads))
                        .toList(),
                candidates);
        assertEquals(
                candidates.size(),
                candidates.stream().map(Configuration::serverThreads).distinct().count());
        assertTrue(explanation.candidates().stream().allMatch(candidate -> slo.metBy(candidate.predicted())));
    }

    /** No configuration is nearer by more than the precision. */
    private static void checkNearest(long seed, PerformanceModel model, Slo slo, NearestFeasible nearest) {
        double smallest = Double.POSITIVE_INFINITY;
        ConfigurationSpace space = model.space();
        for (int s = 0; s <= space.clientCores(); s++) {
            for (int c = Math.max(1, s); c <= space.clientCores(); c++) {
                for (int b = 1; b <= (s == 0 ? 1 : space.maxBatch()); b++) {
                    for (int q = space.minDepth(); q <= space.maxDepth(); q++) {
                        Performance performance =
                                model.predict(new Configuration(c, s, b, q)).orElse(null);
                        if (performance != null && keeps(slo, nearest.relaxed(), performance)) {
                            smallest = Math.min(smallest, nearest.relaxed().miss(slo, performance));
                        }
                    }
                }
            }
        }
        double least = smallest;
        assertTrue(
                nearest.factor() >= least && nearest.factor() <= least * 1.0011,
                () -> "seed " + seed + ": " + nearest + ", and the smallest is " + least);
        assertEquals(nearest.predicted(), model.predict(nearest.configuration()).orElseThrow());
        assertEquals(nearest.factor(), nearest.relaxed().miss(slo, nearest.predicted()), nearest.factor() * 1e-3);
    }

    private static boolean keeps(Slo slo, Relaxation relaxation, Performance performance) {
        return switch (relaxation) {
            case LATENCY -> slo.throughputMiss(performance) <= 1;
            case THROUGHPUT -> slo.latencyMiss(performance) <= 1;
            case BOTH -> true;
        };
    }

    @Test
    void theMessageSaysWhatCanBeHad() throws InterruptedException {
        ModelSubject subject = Models.subject(2, 64, 16);
        PerformanceModel model =
                Models.measured(subject, new SimulatedSystem(subject, 0, 1)).model();
        Slo slo = new Slo(new Objective(3_500, 20e6), Objective.NONE);
        String message = assertThrows(InfeasibleSloException.class, () -> Explanation.of(model, slo))
                .getMessage();
        assertTrue(
                message.startsWith(
                        "no configuration with up to 2 client threads on device simulated meets the objective (reads 3.500 us at 20.00 M/s, writes any)"),
                message);
        assertTrue(
                message.contains("with latencies relaxed by a factor of ")
                        && message.contains("with throughputs relaxed by a factor of ")
                        && message.contains("with both relaxed by a factor of "),
                message);
    }
}
