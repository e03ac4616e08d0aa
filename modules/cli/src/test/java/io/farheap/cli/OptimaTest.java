package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.slo.CandidateConfiguration;
import io.farheap.slo.Configuration;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Models;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.SimulatedSystem;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OptimaTest {

    static LongStream seeds() {
        return Models.seeds(40);
    }

    private record Predicted(Configuration configuration, Performance performance) {}

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void noneIsBetterAndNoneAsGoodIsCheaper(long seed) {
        PerformanceModel model = Models.anyhow(new SplittableRandom(seed));
        List<Predicted> all = model.space().stream()
                .flatMap(one -> model.predict(one).map(found -> new Predicted(one, found)).stream())
                .toList();
        if (all.isEmpty()) {
            assertThrows(IllegalArgumentException.class, () -> Optima.of(model));
            return;
        }
        Optima optima = Optima.of(model);
        check(all, optima.latency(), found -> -found.latencyNanos());
        check(all, optima.balanced(), found -> found.throughput() / found.latencyNanos());
        check(all, optima.throughput(), Performance::throughput);
    }

    private static void check(List<Predicted> all, CandidateConfiguration chosen, ToDoubleFunction<Performance> worth) {
        double best = worth.applyAsDouble(chosen.predicted());
        for (Predicted one : all) {
            double its = worth.applyAsDouble(one.performance());
            assertTrue(its <= best, () -> one + " is better than " + chosen);
            assertTrue(
                    its < best
                            || Configuration.CHEAPEST_FIRST.compare(one.configuration(), chosen.configuration()) >= 0,
                    () -> one + " is as good as " + chosen);
        }
    }

    /** As in Redy's figure 3, in its space: one-sided if latency counts, with batches if throughput does. */
    @Test
    void theBalancedOneIsBetweenTheOthers() throws InterruptedException {
        ModelSubject subject = Models.paper();
        Optima optima = Optima.of(
                Models.measured(subject, new SimulatedSystem(subject, 0, 1)).model());
        Performance latency = optima.latency().predicted();
        Performance balanced = optima.balanced().predicted();
        Performance throughput = optima.throughput().predicted();
        assertEquals(0, optima.latency().configuration().serverThreads());
        assertTrue(optima.throughput().configuration().batchSize() > 1, optima::toString);
        assertTrue(latency.latencyNanos() < balanced.latencyNanos(), optima::toString);
        assertTrue(balanced.latencyNanos() < throughput.latencyNanos(), optima::toString);
        assertTrue(latency.throughput() < balanced.throughput(), optima::toString);
        assertTrue(balanced.throughput() < throughput.throughput(), optima::toString);
    }
}
