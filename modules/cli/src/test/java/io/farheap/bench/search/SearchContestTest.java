package io.farheap.bench.search;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.bench.report.TurnWarmUp;
import io.farheap.slo.ExactSearch;
import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.Search;
import io.farheap.slo.SimulatedSystem;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two searches that take turns; both are exact, so that their answers are equal. */
class SearchContestTest {

    private final StringBuilder order = new StringBuilder();
    private final SearchContest contest = new SearchContest(false, search('e'), search('p'));
    private final SplittableRandom random = new SplittableRandom(1);
    private PerformanceModel model;
    private long now;

    @BeforeEach
    void measureModel() {
        ModelSubject subject = new ModelSubject("simulated", "none", 1, 1024, 50, 2, 4);
        SimulatedSystem system = new SimulatedSystem(subject, 0, 1);
        MeasurementPlan plan = new MeasurementPlan(subject);
        while (!plan.complete()) {
            plan.record(system.measure(plan.next()));
        }
        model = plan.model();
    }

    private Search search(char name) {
        ExactSearch exact = new ExactSearch();
        return (searched, slo) -> {
            order.append(name);
            return exact.find(searched, slo);
        };
    }

    @Test
    void theSearchThatBeginsAlternates() {
        for (int i = 0; i < 4; i++) {
            contest.compare(model, random);
        }
        assertEquals("eppeeppe", order.toString());
        assertEquals(4, contest.objectives());
        assertEquals(0, contest.missed() + contest.dearer() + contest.other());
    }

    @Test
    void bothWarmUpWithTheSameObjectives() {
        contest.warmUp(model, random, new TurnWarmUp(SearchContest.SIDES, 2, 2, () -> now++));
        assertEquals("ppppeeee", order.toString());
        assertEquals(0, contest.objectives());
    }

    @Test
    void theExactSearchWarmsUpAlone() {
        contest.warmUpExact(model, random, 3);
        assertEquals("eee", order.toString());
        assertEquals(0, contest.objectives());
    }

    @Test
    void neitherIsTheFirstThatReadsAModel() {
        contest.touch(model, random);
        assertEquals("ep", order.toString());
        assertEquals(0, contest.objectives());
    }
}
