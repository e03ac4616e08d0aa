package io.farheap.kv.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A map's clock, which is set from a server's answers, while the local clock drifts against the server's and jumps. */
class SynchronizedMapClockTest {

    private static final long SECOND = 1_000_000_000;

    /** The server's time, which runs evenly; the local clock shows {@link #local}. */
    private long now;

    private double rate = 1;
    private long jump;

    private long local() {
        return (long) (now * rate) + jump;
    }

    private void ask(SynchronizedMapClock time, SplittableRandom random) {
        long sent = time.local();
        now += random.nextLong(10_000, 2_000_000);
        long said = now;
        now += random.nextLong(10_000, 2_000_000);
        time.answered(sent, said, time.local());
    }

    private void assertRight(SynchronizedMapClock time, String what) {
        long wrong = Math.abs(time.ticks() - now);
        assertTrue(wrong <= time.errorNanos() + 1000, what + ": wrong by " + wrong + " of " + time.errorNanos());
        assertTrue(time.errorNanos() < 20_000_000, what + ": " + time.errorNanos());
    }

    @Test
    void itIsRightWithinItsErrorAlsoAfterAJump() {
        for (long seed = 0; seed < 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            now = random.nextLong(100 * SECOND);
            rate = 1 + random.nextDouble(-4e-4, 4e-4);
            jump = random.nextLong(-50 * SECOND, 50 * SECOND);
            SynchronizedMapClock time = new SynchronizedMapClock(this::local);
            for (int beat = 0; beat < 300; beat++) {
                if (random.nextInt(50) == 0) {
                    // The map's clock cannot know of this jump before the next answer.
                    jump += random.nextLong(-20 * SECOND, 20 * SECOND);
                }
                ask(time, random);
                assertRight(time, "seed " + seed + ", beat " + beat);
                now += random.nextLong(2 * SECOND);
                assertRight(time, "seed " + seed + ", after beat " + beat);
            }
        }
    }

    @Test
    void anObjectsTimeIsOverByTheServersClock() {
        SynchronizedMapClock time = new SynchronizedMapClock(this::local);
        jump = 7 * SECOND;
        now = 100 * SECOND;
        time.answered(time.local(), now, time.local());
        assertEquals(100_000, time.millis());
        assertTrue(time.expired(100_000));
        assertTrue(!time.expired(100_001));
    }
}
