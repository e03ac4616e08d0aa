package io.farheap.cache.batch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PathChoiceTest {

    private static final int WINDOW = PathChoice.windowRecords + 1;

    private long now;
    private final PathChoice choice = new PathChoice(() -> now);

    /**
     * Issues records, each of which takes the time of its path.
     *
     * @return how many of them were one-sided
     */
    private int issue(int records, int bytes, int batched, int direct) {
        int oneSided = 0;
        for (int i = 0; i < records; i++) {
            boolean alone = choice.oneSided(bytes);
            oneSided += alone ? 1 : 0;
            assertFalse(choice.refuses(bytes, false));
            choice.issued(bytes, 1);
            now += alone ? direct : batched;
        }
        return oneSided;
    }

    @Test
    void aTrialTakesBothPathsInTurnsAndThenTheFaster() {
        assertEquals(3 * WINDOW, issue(6 * WINDOW, 256, 100, 50));
        assertEquals(8 * WINDOW, issue(8 * WINDOW, 256, 100, 50));
    }

    @Test
    void batchesThatAreFasterStay() {
        issue(6 * WINDOW, 256, 50, 100);
        assertEquals(0, issue(8 * WINDOW, 256, 50, 100));
    }

    /** Both paths take equally long if the application has no more requests to make, for example. */
    @Test
    void ofTwoThatTakeEquallyLongTheOneSidedPathIsTaken() {
        issue(6 * WINDOW, 256, 100, 100);
        assertTrue(choice.oneSided(256));
    }

    @Test
    void whatTheDeviceDoesBetterLaterIsFoundOut() {
        issue(6 * WINDOW, 256, 100, 50);
        assertTrue(choice.oneSided(256));
        issue(8 * WINDOW, 256, 100, 50);
        issue(6 * WINDOW, 256, 50, 100);
        assertFalse(choice.oneSided(256));
    }

    @Test
    void trialsBecomeRare() {
        int records = 2_000 * WINDOW;
        int oneSided = issue(records, 256, 100, 50);
        assertTrue(oneSided > 0.98 * records, oneSided + " of " + records);
    }

    /** The application pauses in all windows of each path but one. */
    @Test
    void aPauseDecidesNothing() {
        for (int window = 0; window < 6; window++) {
            issue(WINDOW / 2, 256, 100, 50);
            now += window == 3 || window == 4 ? 0 : 1_000_000_000;
            issue(WINDOW - WINDOW / 2, 256, 100, 50);
        }
        assertTrue(choice.oneSided(256));
    }

    @Test
    void windowsAreManyTimesWhatMayBeInFlight() {
        choice.inFlight(100);
        choice.inFlight(10_000);
        int window = 32 * 10_000 + 1;
        assertEquals(0, issue(window, 256, 100, 50));
        assertEquals(window, issue(window, 256, 100, 50));
        assertFalse(choice.oneSided(256));
    }

    @Test
    void sizesAreClasses() {
        issue(6 * WINDOW, 512, 100, 50);
        assertTrue(choice.oneSided(257));
        assertTrue(choice.oneSided(512));
        assertFalse(choice.oneSided(256));
        assertFalse(choice.oneSided(513));
    }

    @Test
    void smallRecordsAlwaysTakeBatches() {
        assertEquals(0, issue(20 * WINDOW, PathChoice.smallBytes, 100, 1));
        assertFalse(choice.refuses(PathChoice.smallBytes, true));
    }

    @Test
    void afterAChangeTheOtherPathIsWaitedForButNotForEver() {
        for (int change = 0; change < 2; change++) {
            assertFalse(choice.refuses(256, false), "all of it has ended");
            assertFalse(choice.refuses(256, true), "once is enough");
            issue(WINDOW, 256, 100, 50);
            choice.oneSided(256);
            assertTrue(choice.refuses(256, true));
            now += 1_000_001;
            assertFalse(choice.refuses(256, true), "a millisecond is enough");
            issue(WINDOW, 256, 100, 50);
            choice.oneSided(256);
        }
    }

    @Test
    void aPathThatIsKeptRefusesNothing() {
        issue(6 * WINDOW, 256, 100, 50);
        assertFalse(choice.refuses(256, true));
    }

    @Test
    void groupsCountTheirRecords() {
        for (int i = 0; i < 6 * WINDOW; i++) {
            boolean alone = choice.oneSided(1000);
            now += 16 * (alone ? 60 : 90);
            choice.issued(1000, 16);
        }
        assertTrue(choice.oneSided(1000));
    }

    /** The time of a window ends when the next group may be issued. */
    @Test
    void aWindowMayBeOneGroup() {
        for (int i = 0; i < 6; i++) {
            boolean alone = choice.oneSided(1000);
            choice.issued(1000, WINDOW);
            now += (long) WINDOW * (alone ? 60 : 90);
        }
        assertTrue(choice.oneSided(1000));
    }
}
