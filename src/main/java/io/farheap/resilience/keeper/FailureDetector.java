package io.farheap.resilience.keeper;

import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.ServerErrorCounts;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/**
 * Judges servers by the errors that were met at each in a window of time. Counts are divided by the splits that the
 * server was asked, taken to be {@value #LEAST_ASKED} at least:
 *
 * <ul>
 *   <li>a split that is known to be wrong counts as one error, against both limits;
 *   <li>a connection that fails shortly after it was made again counts as one of {@value #LEAST_ASKED} splits however
 *       many were asked, against both limits, and once for all sessions, since it fails everything under way. A first
 *       failure is no error of the server, as a network may break for a moment; nor is a failure if connections to the
 *       other servers fail as often, as then this process's network is at fault. A server that is dead is not connected
 *       again, and so has no second failure;
 *   <li>a split that is in doubt counts against the first limit alone: reads that ask more may tell which split is
 *       wrong. It is no reason to give slabs up, as all slabs of a range are in the same doubt and most of them are
 *       right;
 *   <li>a late split counts as a tenth against the first limit alone, and only if the server's rate of late splits is
 *       more than twice that of the others, of which there must be at least two; servers that were asked fewer than
 *       {@value #LEAST_ASKED} splits are not compared. On a busy machine all servers are late, and nothing follows:
 *       neither more reads, which would make it busier, nor regenerations.
 * </ul>
 *
 * Used by the keeper's thread.
 */
final class FailureDetector {

    /** What the keeper does with a server's slabs. */
    enum Verdict {
        /** They stay. */
        STAY,
        /** They are right, and move to other servers as their ranges can spare them. */
        MOVE,
        /** They are in doubt, and become void at once. */
        GIVE_UP
    }

    /** The splits that a window of a server is taken to have at least. */
    static final long LEAST_ASKED = 1000;
    /** How many late splits count as one that is wrong. */
    private static final int LATE_PER_ERROR = 10;
    /** A server counts as later, or as failing more often, only above this many times the rate of the others. */
    private static final int TIMES_MORE = 2;
    /** Late splits are compared only if there are at least this many other servers. */
    private static final int LEAST_OTHERS = 2;
    /** How long a server may be above the first limit. */
    private static final long SUSPECT_NANOS = 10_000_000_000L;

    private final Resilience resilience;
    private final Map<ServerErrorCounts, Window> windows = new HashMap<>();

    FailureDetector(Resilience resilience) {
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

    /** How long a condition has been true without a break. */
    private static final class ConditionTimer {
        private boolean was;
        private long since;

        /** @return whether it has been true for longer than a server may be suspect */
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
        private final ConditionTimer wrongAbove = new ConditionTimer();
        private final ConditionTimer errorsAbove = new ConditionTimer();

        Window(ServerErrorCounts record) {
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

        /** The number of splits that its counts are divided by. */
        long count() {
            return Math.max(LEAST_ASKED, asked.here);
        }

        /** Whether it was asked enough splits to be compared. */
        boolean tells() {
            return asked.here >= LEAST_ASKED;
        }
    }

    /**
     * Ends a window: sets for each server whether it is suspect from now on, and returns what is to be done with its
     * slabs.
     *
     * @param records of the servers that are there, which alone are compared with each other
     * @param now in ns
     */
    Map<ServerErrorCounts, Verdict> windowEnds(Collection<ServerErrorCounts> records, long now) {
        windows.keySet().retainAll(Set.copyOf(records));
        Map<ServerErrorCounts, Verdict> verdicts = new HashMap<>();
        for (ServerErrorCounts record : records) {
            windows.computeIfAbsent(record, Window::new).end();
        }
        for (ServerErrorCounts record : records) {
            verdicts.put(record, judge(record, now));
        }
        return verdicts;
    }

    /** Whether a server's rate of late splits is more than twice that of the others together. */
    private boolean isLater(Window window) {
        long late = 0;
        long asked = 0;
        int others = 0;
        for (Window other : windows.values()) {
            if (other != window && other.tells()) {
                late += other.late.here;
                asked += other.asked.here;
                others++;
            }
        }
        return window.tells()
                && others >= LEAST_OTHERS
                && (double) window.late.here * asked > (double) TIMES_MORE * late * window.asked.here;
    }

    /** Whether a server's connections fail again more than twice as often as the others' on average. */
    private boolean failsMore(Window window) {
        long times = 0;
        for (Window other : windows.values()) {
            times += other == window ? 0 : other.failedAgain.here;
        }
        return window.failedAgain.here * (windows.size() - 1) > TIMES_MORE * times;
    }

    private Verdict judge(ServerErrorCounts record, long now) {
        Window window = windows.computeIfAbsent(record, Window::new);
        double count = window.count();
        double wrong = window.wrong.here / count;
        double errors = wrong + (failsMore(window) ? (double) window.failedAgain.here / LEAST_ASKED : 0);
        double doubt = window.doubted.here / count;
        double late = isLater(window) ? window.late.here / (LATE_PER_ERROR * count) : 0;
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
