package io.farheap.kv.leased.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LeaseTermsTest {

    private static final long STEP = 1_000;
    private static final long LONGEST = 3_500;

    @Test
    void aTermGrowsWithTheQueueUpToTheLongest() {
        LeaseTerms terms = new LeaseTerms(STEP, LONGEST, 16);
        assertEquals(0, terms.of(0));
        assertEquals(STEP, terms.of(1));
        assertEquals(3 * STEP, terms.of(3));
        assertEquals(LONGEST, terms.of(4));
        assertEquals(LONGEST, terms.stay(15));
    }

    /** Objects of a map without popularity are leased alike. */
    @Test
    void oneQueueHasTheTermOfTheStep() {
        assertEquals(STEP, new LeaseTerms(STEP, LONGEST, 1).of(0));
    }

    /** A map without leases can still forget what was popular. */
    @Test
    void withoutLeasesPopularityEndsAsWithThem() {
        LeaseTerms terms = new LeaseTerms(STEP, 0, 16);
        assertEquals(0, terms.of(5));
        assertEquals(5 * STEP, terms.stay(5));
    }

    @Test
    void termsShrinkWithWhatIsMarked() {
        LeaseTerms terms = new LeaseTerms(STEP, LONGEST, 16);
        assertEquals(2 * STEP, terms.of(2, 0, 100, 1_600));
        long less = terms.of(2, 0, 150, 1_600);
        assertTrue(less > 0 && less < 2 * STEP, less + " ns");
        assertEquals(0, terms.of(2, 0, 200, 1_600));
        terms.exhausted(10);
        assertEquals(0, terms.of(2, 10 + LONGEST - 1, 0, 1_600));
        assertEquals(2 * STEP, terms.of(2, 10 + LONGEST, 0, 1_600));
    }

    /** A map of few queues gives no lease of the longest term, so none has to end before the next is given. */
    @Test
    void noLeaseIsWaitedForThatNoQueueHas() {
        LeaseTerms one = new LeaseTerms(STEP, 10 * STEP, 1);
        one.exhausted(0);
        assertEquals(0, one.of(0, STEP - 1, 0, 1_600));
        assertEquals(STEP, one.of(0, STEP, 0, 1_600));
        LeaseTerms four = new LeaseTerms(STEP, 10 * STEP, 4);
        four.exhausted(0);
        assertEquals(0, four.of(3, 3 * STEP - 1, 0, 1_600));
        assertEquals(3 * STEP, four.of(3, 3 * STEP, 0, 1_600));
    }
}
