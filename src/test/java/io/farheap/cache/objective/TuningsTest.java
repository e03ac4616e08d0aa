package io.farheap.cache.objective;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.manager.AllocationCandidate;
import io.farheap.slo.InfeasibleSloException;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.Slo;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class TuningsTest {

    /** Each switch adds a microsecond; a server thread doubles the throughput. */
    private static PerformanceModel model(int switches) {
        MeasurementPlan plan = new MeasurementPlan(new ModelSubject("d", "made up", switches, 64, 50, 2, 4));
        while (!plan.complete()) {
            var how = plan.next();
            double latency = 1_000 + 1_000 * switches;
            double rate = 1e5 * (1 + how.serverThreads()) * how.clientThreads();
            plan.record(new Performance(latency, rate, latency, rate));
        }
        return plan.model();
    }

    private static List<Tuning> tunings(double nanos, double perSecond, int... switches) {
        List<PerformanceModel> models =
                Arrays.stream(switches).mapToObj(TuningsTest::model).toList();
        Slo slo = new Slo(new Objective(nanos, perSecond), Objective.NONE);
        return Tunings.of(models, slo, 0, Duration.ofSeconds(1), null);
    }

    @Test
    void onlyDistancesThatMeetTheObjectiveAreOffered() {
        List<AllocationCandidate> candidates = Tunings.candidates(tunings(4_500, 1.5e5, 1, 3, 5));
        assertEquals(
                List.of(1, 3),
                candidates.stream()
                        .map(AllocationCandidate::switches)
                        .distinct()
                        .toList());
        assertTrue(candidates.contains(new AllocationCandidate(3, 0)), candidates.toString());
        assertThrows(InfeasibleSloException.class, () -> tunings(1_500, 1, 1, 3));
        assertThrows(IllegalArgumentException.class, () -> tunings(1_500, 1));
    }

    @Test
    void whatAManagerChoosesIsWhatTheCacheRunsWith() {
        List<Tuning> tunings = tunings(4_500, 1.5e5, 1, 3);
        for (AllocationCandidate candidate : Tunings.candidates(tunings)) {
            Tuning chosen = Tunings.chosen(tunings, candidate);
            assertEquals(candidate.switches(), chosen.model().subject().switches());
            assertEquals(
                    candidate.serverThreads(),
                    chosen.why().chosen().configuration().serverThreads());
            assertTrue(chosen.why().slo().metBy(chosen.why().chosen().predicted()));
        }
        assertThrows(CacheException.class, () -> Tunings.chosen(tunings, new AllocationCandidate(5, 0)));
    }

    @Test
    void aModelOfOneHostIsGoodForAnyDistance() {
        assertEquals(
                AllocationCandidate.ANY.switches(),
                Tunings.candidates(tunings(4_500, 1e5, 0)).getFirst().switches());
    }
}
