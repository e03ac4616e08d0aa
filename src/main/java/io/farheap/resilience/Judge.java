package io.farheap.resilience;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Judges servers by what was met at each in a window of time. What is counted is set against the splits that were
 * asked, {@value #LEAST_ASKED} at least:
 *
 * <ul>
 *   <li>a split that is known to be wrong counts as one error, against both limits;
 *   <li>a connection that fails, and had been made anew after a failure shortly before, counts as one of
 *       {@value #LEAST_ASKED} splits however many were asked, against both limits: it fails all that is under way. The
 *       first failure is no error of the server's: a network that breaks for a moment fails one connection of each
 *       session. A server that is dead, or cannot be reached, is not connected again, and so has no second one;
 *   <li>a split that is in doubt counts against the first limit alone: reads that ask more may tell. It is no reason to
 *       give slabs up: all of a range are in the same doubt, and most of them are right;
 *   <li>a split that is late counts as a tenth against the first limit alone, and only where the server's part of what
 *       is late is more than twice the others'. On a busy machine all are late, and nothing comes of it: neither more
 *       reads, which would make it busier, nor regenerations.
 * </ul>
 *
 * The keeper's thread.
 */
final class Judge {

    /** What becomes of a server's slabs. */
    enum Verdict {
        /** They stay. */
        STAY,
        /** They are right, and go elsewhere as their ranges can spare them. */
        MOVE,
        /** They are in doubt, and void at once. */
        GIVE_UP
    }

    /** A window is taken to have so many splits of each server at least. */
    static final long LEAST_ASKED = 1000;
    /** So many late splits count as one that is wrong. */
    private static final int LATE_PER_ERROR = 10;
    /** So many times as much as the others must a server be late. */
    private static final int TIMES_LATER = 2;
    /** So long a server may be above the first limit. */
    private static final long SUSPECT_NANOS = 10_000_000_000L;

    private final Resilience resilience;
    private final Map<ServerRecord, Window> windows = new HashMap<>();

    Judge(Resilience resilience) {
        this.resilience = resilience;
    }

    /** A counter, and what it has counted in the latest window. */
    private static final class Counter {
        private final LongAdder sum;
        private long before;
        private long here;

        Counter(LongAdder sum) {
            this.sum = sum;
        }

        void end() {
            long now = sum.sum();
            here = now - before;
            before = now;
        }
    }

    /** Since when something is so. */
    private static final class Since {
        private boolean was;
        private long since;

        /** @return whether it is so for longer than a server may be suspect */
        boolean tooLong(boolean is, long now) {
            if (is && !was) {
                since = now;
            }
            was = is;
            return is && now - since > SUSPECT_NANOS;
        }
    }

    private static final class Window {
        private final Counter asked;
        private final Counter wrong;
        private final Counter doubted;
        private final Counter failedAgain;
        private final Counter late;
        private final Since wrongAbove = new Since();
        private final Since errorsAbove = new Since();

        Window(ServerRecord record) {
            asked = new Counter(record.asked);
            wrong = new Counter(record.wrong);
            doubted = new Counter(record.doubted);
            failedAgain = new Counter(record.failedAgain);
            late = new Counter(record.late);
        }

        void end() {
            asked.end();
            wrong.end();
            doubted.end();
            failedAgain.end();
            late.end();
        }

        /** What its rates are of. */
        long count() {
            return Math.max(LEAST_ASKED, asked.here);
        }

        /** Whether there is anything to compare others with. */
        boolean used() {
            return asked.here + late.here > 0;
        }
    }

    /**
     * A window ends: each server is suspect from now on or is not, and what is to become of its slabs is said.
     *
     * @param now in ns
     */
    Map<ServerRecord, Verdict> windowEnds(Collection<ServerRecord> records, long now) {
        long lateOfAll = 0;
        long countOfAll = 0;
        for (ServerRecord record : records) {
            Window window = windows.computeIfAbsent(record, Window::new);
            window.end();
            if (window.used()) {
                lateOfAll += window.late.here;
                countOfAll += window.count();
            }
        }
        Map<ServerRecord, Verdict> verdicts = new HashMap<>();
        for (ServerRecord record : records) {
            Window window = windows.computeIfAbsent(record, Window::new);
            boolean standsOut = window.used()
                    && standsOut(
                            window.late.here,
                            window.count(),
                            lateOfAll - window.late.here,
                            countOfAll - window.count());
            verdicts.put(record, judge(record, window, standsOut, now));
        }
        return verdicts;
    }

    /** Where there are no others nothing stands out. */
    private static boolean standsOut(long late, long count, long lateOfOthers, long countOfOthers) {
        return (double) late * countOfOthers > (double) TIMES_LATER * lateOfOthers * count;
    }

    private Verdict judge(ServerRecord record, Window window, boolean standsOut, long now) {
        double count = window.count();
        double wrong = window.wrong.here / count;
        double errors = wrong + (double) window.failedAgain.here / LEAST_ASKED;
        double doubt = window.doubted.here / count;
        double late = standsOut ? window.late.here / (LATE_PER_ERROR * count) : 0;
        double first = resilience.errorCorrectionLimit();
        double second = resilience.slabRegenerationLimit();
        record.suspect = errors + doubt + late > first;
        boolean wrongTooLong = window.wrongAbove.tooLong(wrong > first, now);
        boolean errorsTooLong = window.errorsAbove.tooLong(errors > first, now);
        if (wrong > second || wrongTooLong) {
            return Verdict.GIVE_UP;
        }
        return errors > second || errorsTooLong ? Verdict.MOVE : Verdict.STAY;
    }
}
