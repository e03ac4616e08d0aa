package io.farheap.remote.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a link that failed is made again; times are the test's own. */
class LinkRecoveryTest {

    private static final long MILLI = 1_000_000;
    private static final long SECOND = 1_000 * MILLI;

    private final LinkRecovery link = new LinkRecovery(0);

    @Test
    void itIsMadeAtOnceAndThenAfterABackOff() {
        assertFalse(link.begins(0), "it is up");
        assertTrue(link.fails(0));
        assertFalse(link.fails(0), "that is known");
        assertTrue(link.begins(0));
        assertFalse(link.begins(SECOND), "it is being made");
        link.ended(false, 0);
        assertTrue(link.isDown());
        assertEquals(1, link.attempts());
        assertEquals(5 * MILLI, link.due());
        assertFalse(link.begins(5 * MILLI - 1));
        assertTrue(link.begins(5 * MILLI));
        link.ended(false, 5 * MILLI);
        assertEquals(15 * MILLI, link.due());
        assertTrue(link.begins(15 * MILLI));
        link.ended(true, 15 * MILLI);
        assertFalse(link.isDown());
        assertEquals(0, link.attempts());
    }

    @Test
    void theBackOffIsASecondAtMost() {
        link.fails(0);
        long now = 0;
        for (int attempt = 0; attempt < 20; attempt++) {
            assertTrue(link.begins(now));
            link.ended(false, now);
            assertTrue(link.due() - now <= SECOND);
            now = link.due();
        }
    }

    @Test
    void onlyProgressOrTimeMakesItGoodAgain() {
        link.fails(0);
        assertTrue(link.begins(0));
        link.ended(true, 0);
        link.fails(MILLI);
        assertFalse(link.begins(MILLI), "it has failed twice, and carried nothing");
        assertTrue(link.begins(6 * MILLI));
        link.ended(true, 6 * MILLI);
        link.works();
        link.fails(7 * MILLI);
        assertTrue(link.begins(7 * MILLI));
        link.ended(true, 7 * MILLI);
        link.fails(2 * SECOND);
        assertTrue(link.begins(2 * SECOND));
    }

    /** Its owner has not heard yet that it was made, so it asks for another attempt once it has. */
    @Test
    void aFailureWhileItIsBeingMadeIsThatWhichIsKnown() {
        link.fails(0);
        assertTrue(link.begins(0));
        assertFalse(link.fails(MILLI));
        link.ended(true, 2 * MILLI);
        assertFalse(link.isDown());
        assertTrue(link.fails(2 * MILLI));
        assertEquals(7 * MILLI, link.due());
    }

    @Test
    void whatIsGivenUpIsNotMadeAgain() {
        link.fails(0);
        assertTrue(link.begins(0));
        link.giveUp();
        link.ended(false, 0);
        assertFalse(link.isDown());
        assertFalse(link.begins(SECOND));
    }
}
