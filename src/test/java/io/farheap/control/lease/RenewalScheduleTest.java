package io.farheap.control.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of a lease's renewal, with a clock that the test sets. */
class RenewalScheduleTest {

    private static final long MILLI = 1_000_000L;
    private static final long DURATION = 3_000 * MILLI;
    /** nanoTime may have any value, and may overflow. */
    private static final long START = Long.MAX_VALUE - DURATION;

    private static final ControlException UNREACHABLE = new ControlException(Code.UNAVAILABLE, "no route");
    private static final ControlException UNANSWERED = new ControlException(Code.DEADLINE_EXCEEDED, "no answer");
    private static final ControlException GONE = new ControlException(Code.LEASE_EXPIRED, "gone");

    private final RenewalSchedule times = new RenewalSchedule(DURATION, START);

    @Test
    void itIsRenewedEveryThirdOfItsDuration() {
        long now = START;
        for (int i = 0; i < 10; i++) {
            assertEquals(now + DURATION / 3, times.dueAt());
            now = times.dueAt();
            assertTrue(times.begin(now) > 0);
            times.succeeded(now += 5 * MILLI);
        }
        assertNull(times.lost());
    }

    @Test
    void itCountsFromWhenTheLastGoodRenewalWasSent() {
        long sent = times.dueAt();
        times.begin(sent);
        times.succeeded(sent + DURATION / 2);
        long due = times.dueAt();
        assertEquals(sent + DURATION / 2 + DURATION / 3, due);
        assertEquals(sent + DURATION - due, times.begin(due), "it waits for no longer than the lease lasts");
        times.failed(UNANSWERED, sent + DURATION);
        assertSame(UNANSWERED, times.lost());
    }

    /** Also if the server refuses a renewal that is sent later, or does not answer it. */
    @Test
    @SuppressWarnings("ConstantOverflow") // nanoTime may overflow.
    void itIsHeldForItsDurationLessTheDriftOfClocks() {
        long drift = DURATION / 1000;
        assertEquals(START + DURATION - drift, times.heldUntil());
        long sent = times.dueAt();
        times.begin(sent);
        assertEquals(START + DURATION - drift, times.heldUntil());
        times.succeeded(sent + DURATION / 2);
        assertEquals(sent + DURATION - drift, times.heldUntil());
        times.begin(times.dueAt());
        times.failed(GONE, sent + DURATION);
        assertEquals(sent + DURATION - drift, times.heldUntil());
    }

    /** Opening it took long, and the server counts its duration from somewhere in between. */
    @Test
    void itCountsFromWhenItWasAskedFor() {
        long askedAt = 1000 * MILLI;
        RenewalSchedule slow = new RenewalSchedule(DURATION, askedAt);
        long now = askedAt + 2 * DURATION / 3;
        assertEquals(askedAt + DURATION - DURATION / 1000, slow.heldUntil());
        slow.begin(now);
        slow.succeeded(now + MILLI);
        assertEquals(now + DURATION - DURATION / 1000, slow.heldUntil());
    }

    @Test
    @SuppressWarnings("ConstantOverflow") // nanoTime may overflow.
    void aKeeperThatSleptAsksAllTheSameButNotAfterAFailure() {
        long late = START + 10 * DURATION;
        assertEquals(DURATION / 3, times.begin(late));
        times.succeeded(late + MILLI);
        assertNull(times.lost());

        long due = times.dueAt();
        times.begin(due);
        times.failed(UNREACHABLE, due + MILLI);
        assertNull(times.lost());
        times.begin(due + 2 * DURATION);
        assertSame(UNREACHABLE, times.lost());
    }

    @Test
    void theServersWordLosesItAtOnce() {
        long due = times.dueAt();
        times.begin(due);
        times.failed(GONE, due + MILLI);
        assertSame(GONE, times.lost());
    }

    @Test
    void aRenewalThatNeverEndsLosesIt() {
        long due = times.dueAt();
        times.begin(due);
        // The process was stopped meanwhile, so the renewal's end may still arrive.
        long awake = times.dueAt() + DURATION;
        assertEquals(0, times.begin(awake));
        assertNull(times.lost());
        assertEquals(0, times.begin(times.dueAt()));
        assertEquals(Code.INTERNAL, times.lost().code());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void randomHistories(int seed) {
        Random random = new Random(seed);
        int lost = 0;
        int slept = 0;
        for (int i = 0; i < 2_000; i++) {
            History history = new History(random);
            for (int step = 0; step < 60 && history.goesOn(); step++) {
                history.step();
            }
            lost += history.goesOn() ? 0 : 1;
            slept += history.sleeps;
        }
        // Some histories lose the lease, some do not, and some have sleeps.
        assertTrue(lost > 100 && lost < 1_900, "lost: " + lost);
        assertTrue(slept > 100, "slept: " + slept);
    }

    /** One lease and the events of its renewals, from which alone the expected result follows. */
    private static final class History {

        private final Random random;
        private final long duration;
        private final RenewalSchedule times;
        /** The probability that a renewal fails, in percent; it differs from lease to lease. */
        private final int badness;

        private long now;
        private long goodSentAt;
        private long lastEndedAt;
        private ControlException lastFailure;
        private int sleeps;

        History(Random random) {
            this.random = random;
            duration = (1 + random.nextInt(10_000)) * MILLI;
            badness = random.nextInt(101);
            now = random.nextLong();
            goodSentAt = now;
            lastEndedAt = now;
            times = new RenewalSchedule(duration, now);
        }

        boolean goesOn() {
            return times.lost() == null;
        }

        void step() {
            long due = times.dueAt();
            checkPause(due - lastEndedAt);
            if (random.nextInt(10) == 0) {
                due = lastEndedAt + random.nextLong(Math.max(1, due - lastEndedAt));
                times.hasten(due);
                assertEquals(due, times.dueAt());
            }
            boolean sleep = random.nextInt(20) == 0;
            sleeps += sleep ? 1 : 0;
            now = due + (sleep ? random.nextLong(3 * duration) : random.nextLong(MILLI));
            boolean over = now - goodSentAt >= duration;

            long within = times.begin(now);

            if (over && lastFailure != null) {
                assertSame(lastFailure, times.lost(), "it is over, and the last renewal failed");
                return;
            }
            assertNull(times.lost(), "nobody said that it is lost");
            assertTrue(within > 0 && within <= duration, "it waits " + within);
            assertTrue(over || within == duration - (now - goodSentAt), "it waits for as long as the lease lasts");
            end(now, within);
        }

        private void checkPause(long pause) {
            long retry = Math.min(RenewalSchedule.RETRY_NANOS, duration / 3);
            if (lastFailure == null) {
                assertEquals(duration / 3, pause);
            } else {
                assertTrue(pause >= 0 && pause <= retry, "a renewal that failed is repeated after " + pause);
            }
        }

        private void end(long sentAt, long within) {
            if (random.nextInt(10) == 0) {
                long ends = times.dueAt();
                times.hasten(sentAt);
                assertEquals(ends, times.dueAt(), "a renewal is under way already");
            }
            boolean slow = random.nextBoolean();
            now += slow ? random.nextLong(within) : random.nextLong(Math.min(within, MILLI));
            if (random.nextInt(100) >= badness) {
                times.succeeded(now);
                assertNull(times.lost());
                goodSentAt = sentAt;
                lastFailure = null;
            } else {
                fail(sentAt, within);
            }
            lastEndedAt = now;
        }

        private void fail(long sentAt, long within) {
            ControlException e =
                    switch (random.nextInt(40)) {
                        case 0 -> GONE;
                        case 1, 2, 3, 4, 5 -> UNANSWERED;
                        case 6 -> new ControlException(Code.BUSY, "later");
                        default -> UNREACHABLE;
                    };
            if (e == UNANSWERED) {
                // The carrier of a renewal may have a limit of its own, shorter than the schedule's.
                now = sentAt + Math.min(within, 1_000 * MILLI);
            }
            times.failed(e, now);
            boolean over = now - goodSentAt >= duration;
            if (e == GONE || over) {
                assertSame(e, times.lost());
                assertNotNull(times.lost());
                return;
            }
            assertNull(times.lost(), "the lease may hold");
            long retry = Math.min(RenewalSchedule.RETRY_NANOS, duration / 3);
            assertTrue(times.dueAt() - sentAt >= Math.min(retry, duration - (now - goodSentAt)), "it spins");
            lastFailure = e;
        }
    }
}
