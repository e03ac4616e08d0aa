package io.farheap.bench.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Validity;
import io.farheap.resilience.contract.CodedStatus;
import org.junit.jupiter.api.Test;

/** Requests are compared by the medians of all turns, and invalid ones not at all. */
class RequestTallyTest {

    /** @param nanos of the one request of each turn, and also its processor time */
    private static RequestTally tally(long... nanos) {
        RequestTally tally = new RequestTally();
        for (long one : nanos) {
            tally.ended(CodedStatus.OK, one, 0);
            tally.cpu(one);
            tally.endTurn();
        }
        return tally;
    }

    @Test
    void aRatioIsThatOfTheMedians() {
        RequestTally one = tally(100, 200, 300);
        RequestTally other = tally(1000, 400, 600);
        // The turns' ratios are 0.1, 0.5 and 0.5; the medians 200 and 600.
        assertEquals(1 / 3.0, one.medianRatio(other), 0.001);
        assertEquals(1 / 3.0, one.tailRatio(other), 0.001);
        assertEquals(1 / 3.0, one.cpuRatio(other), 0.001);
        assertEquals(new Quartiles(150, 200, 250), tally(100, 200, 300).quartiles());
        assertFalse(one.settled());
    }

    @Test
    void anInvalidSideHasNoRatio() {
        RequestTally late = tally(100);
        late.judged(new Validity(0.5));
        assertEquals(0.5, late.medianRatio(tally(200)), 0.001);
        late.judged(new Validity(1.5));
        assertTrue(late.validity().invalid());
        assertTrue(Double.isNaN(late.medianRatio(tally(200))));
        assertTrue(Double.isNaN(tally(200).tailRatio(late)));
        assertEquals(100, late.median(), 0.1);
    }

    @Test
    void requestsOfReadsAloneAreNotJudgedAndHaveTheirRatio() {
        RequestTally reads = tally(100);
        reads.judged(Validity.NOT_JUDGED);
        assertEquals(Validity.NOT_JUDGED, reads.validity());
        assertEquals(0.5, reads.medianRatio(tally(200)), 0.001);
    }
}
