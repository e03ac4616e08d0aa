package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TurnWindowTest {

    private static final long MILLI = 1_000_000;

    /** A core that 32 threads share by slices of 3 ms comes back to a thread in about the time of a turn. */
    @Test
    void theRateOfThreadsThatShareACoreIsThatOfTheCore() {
        int threads = 32;
        long slice = 3 * MILLI;
        long group = 64 * 1000;
        TurnWindow window = new TurnWindow(10 * MILLI, 110 * MILLI);
        List<TurnWindow.Share> shares = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            TurnWindow.Share share = window.new Share(thread * slice);
            shares.add(share);
            // An operation takes 1 us of the core; the time passes in the other threads' slices too.
            long ran = 0;
            long ended = 0;
            long now;
            do {
                ran += group;
                ended += 64;
                now = thread * slice + ran / slice * threads * slice + ran % slice;
            } while (share.continues(now, ended));
        }
        assertEquals(1e6, window.perSecond(shares), 0.1 * 1e6);
    }

    @Test
    void whatEndsBeforeAndAfterDoesNotCount() {
        TurnWindow window = new TurnWindow(100, 200);
        TurnWindow.Share share = window.new Share(0);
        assertTrue(share.continues(50, 64));
        // Half of these are before the begin.
        assertTrue(share.continues(150, 128));
        assertTrue(share.continues(190, 192));
        // A fifth of these is in the window.
        assertFalse(share.continues(240, 192 + 50));
        assertEquals((32 + 64 + 10) * 1e9 / 100, window.perSecond(List.of(share)), 1);
    }

    @Test
    void aThreadThatBeginsLateHasDoneNothingBefore() {
        TurnWindow window = new TurnWindow(100, 200);
        TurnWindow.Share late = window.new Share(150);
        assertFalse(late.continues(200, 64));
        TurnWindow.Share tooLate = window.new Share(300);
        assertFalse(tooLate.continues(400, 64));
        assertEquals(64 * 1e9 / 100, window.perSecond(List.of(late, tooLate)), 1);
    }

    @Test
    void aTurnContinuesUntilAnOperationHasEnded() {
        TurnWindow window = new TurnWindow(100, 200);
        TurnWindow.Share share = window.new Share(0);
        assertTrue(share.continues(250, 0));
        assertTrue(share.continues(500, 0));
        assertFalse(share.continues(600, 2));
        assertEquals(2 * 1e9 / 500, window.perSecond(List.of(share)), 1);
    }
}
