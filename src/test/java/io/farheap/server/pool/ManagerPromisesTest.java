package io.farheap.server.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ManagerPromisesTest {

    private static final long SECOND = 1_000_000_000L;

    private long now = 7 * SECOND;
    private final ManagerPromises promises = new ManagerPromises(() -> now);

    @Test
    void allIsKeptUntilTheManagerHasAnsweredAndThenWhatItHasSaid() {
        assertEquals(Integer.MAX_VALUE, promises.keep(2));
        promises.reports(5);
        promises.said(3);
        assertEquals(3, promises.keep(2));
        promises.said(1);
        assertEquals(1, promises.keep(2), "a grant that was shown may be older");
        now += 100 * SECOND;
        assertEquals(1, promises.keep(0));
    }

    @Test
    void aReportThatWantsNothingEndsWhatTheManagerHasSaid() {
        promises.keep(0);
        promises.reports(5);
        promises.said(3);
        promises.reports(0);
        assertEquals(Integer.MAX_VALUE, promises.keep(0));
    }

    /** It was made, and may not have been sent: this is the answer to one before it. */
    @Test
    void anAnswerThatComesAfterAReportThatWantsNothingDoesNotCount() {
        promises.reports(5);
        promises.reports(0);
        promises.said(3);
        assertEquals(Integer.MAX_VALUE, promises.keep(0));
        promises.reports(5);
        assertEquals(Integer.MAX_VALUE, promises.keep(0), "the answer to this one is to come");
        promises.said(4);
        assertEquals(4, promises.keep(0));
    }

    @Test
    void aManagerThatDoesNotAnswerIsNotWaitedForForLong() {
        assertEquals(Integer.MAX_VALUE, promises.keep(2));
        now += 10 * SECOND - 1;
        promises.reports(5);
        assertEquals(Integer.MAX_VALUE, promises.keep(2));
        now++;
        assertEquals(2, promises.keep(2));
        promises.said(4);
        assertEquals(4, promises.keep(2));
        promises.reports(0);
        assertEquals(Integer.MAX_VALUE, promises.keep(2), "it is waited for again");
    }
}
