package io.farheap.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The searches against the exhaustive one on random models; {@code -Dfarheap.seed=S} runs one seed again. */
class SearchPropertyTest {

    private static final int OBJECTIVES = 12;

    private final Search oracle = new ExhaustiveSearch();
    private final Search exact = new ExactSearch();
    private final Search pruned = new PrunedTraversal();

    static LongStream seeds() {
        return Models.seeds(150);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void exactSearchFindsWhatTheOracleFinds(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        PerformanceModel model = random.nextInt(3) == 0 ? Models.monotonic(random) : Models.anyhow(random);
        for (int i = 0; i < OBJECTIVES; i++) {
            Slo slo = random.nextBoolean() ? Models.exact(random, model) : Models.drawn(random, model);
            if (slo != null) {
                SearchResult expected = oracle.find(model, slo);
                SearchResult found = exact.find(model, slo);
                assertEquals(expected.found(), found.found(), () -> "seed " + seed + ", " + model.space() + ", " + slo);
                assertEquals(expected.predicted(), found.predicted());
            }
        }
    }

    /** Redy: it "is guaranteed to have the fewest server threads", if its assumption holds. */
    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void prunedTraversalFindsWhatTheOracleFindsOnMonotonicModels(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        PerformanceModel model = Models.monotonic(random);
        for (int i = 0; i < OBJECTIVES; i++) {
            Slo slo = Models.drawn(random, model);
            SearchResult expected = oracle.find(model, slo);
            SearchResult found = pruned.find(model, slo);
            assertEquals(expected.found(), found.found(), () -> "seed " + seed + ", " + model.space() + ", " + slo);
            assertTrue(found.examined() <= expected.examined());
        }
    }

    /** This model is the reason for another search than Redy's. */
    @Test
    void prunedTraversalMissesWhatAModelHidesBehindALatency() {
        MeasuredGrid grid = new MeasuredGrid(new ConfigurationSpace(2, 1, 1, 2));
        PointOrder order = new PointOrder(grid);
        for (int i = 0; i < order.count(); i++) {
            double latency = order.configuration(i).clientThreads() == 1 ? 200 : 100;
            grid.set(order.index(i), new Performance(latency, 10, latency, 10));
        }
        PerformanceModel model = new PerformanceModel(Models.subject(2, 4096, 2), grid);
        Slo slo = new Slo(new Objective(150, 5), Objective.NONE);
        assertEquals(new Configuration(2, 0, 1, 1), exact.find(model, slo).found());
        assertTrue(!pruned.find(model, slo).feasible());
    }

    @Test
    void onRedysSpaceToo() throws InterruptedException {
        long seed = Models.seeds(1).findFirst().orElseThrow();
        SplittableRandom random = new SplittableRandom(seed);
        ModelSubject subject = Models.paper();
        PerformanceModel model = Models.measured(subject, new SimulatedSystem(subject, 0.2, seed))
                .model();
        for (int i = 0; i < 4; i++) {
            Slo slo = Models.drawn(random, model);
            assertEquals(
                    oracle.find(model, slo).found(), exact.find(model, slo).found(), () -> "seed " + seed + ", " + slo);
        }
        SearchResult impossible = exact.find(model, new Slo(new Objective(1, 1), Objective.NONE));
        assertTrue(!impossible.feasible());
    }

    @Test
    void operationsThatAModelLacksAreNotBounded() throws InterruptedException {
        ModelSubject reads = new ModelSubject("simulated", "none", 1, 1024, 100, 2, 4);
        PerformanceModel model =
                Models.measured(reads, new SimulatedSystem(reads, 0, 1)).model();
        Slo writes = new Slo(Objective.NONE, new Objective(1e9, 0));
        for (Search search : new Search[] {oracle, exact, pruned}) {
            assertThrows(IllegalArgumentException.class, () -> search.find(model, writes));
            assertEquals(
                    new Configuration(1, 0, 1, 4),
                    search.find(model, new Slo(new Objective(1e9, 1), Objective.NONE))
                            .found());
        }
    }
}
