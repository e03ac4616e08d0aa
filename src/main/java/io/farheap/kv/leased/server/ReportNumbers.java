package io.farheap.kv.leased.server;

import io.farheap.kv.leased.format.LeasedCalls;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What is known of the reports that the sessions of one process write, by the numbers that it gives the sessions: the
 * last report that was merged, and which ring has the next. Any server thread.
 */
final class ReportNumbers {

    private final AtomicLongArray merged = new AtomicLongArray(LeasedCalls.MOST_SESSIONS);
    /** How many rings the sessions of a number have had. */
    private final AtomicLongArray rings = new AtomicLongArray(LeasedCalls.MOST_SESSIONS);

    private volatile boolean ended;

    /** No report of the process's sessions is merged any more. */
    void end() {
        ended = true;
    }

    boolean hasEnded() {
        return ended;
    }

    /**
     * A session writes its reports into another ring from now on. Numbers only grow, so none that was merged comes
     * again.
     *
     * @param before the number before that of the first report there
     * @return the number of the ring
     */
    long begin(int session, long before) {
        merged.accumulateAndGet(session, before, Math::max);
        return rings.incrementAndGet(session);
    }

    /** Whether the process, which has not ended, has no later ring for the sessions of a number. */
    boolean isPresent(int session, long ring) {
        return !ended && rings.get(session) == ring;
    }

    /** The number of the last report that was merged of the session of a number. */
    long merged(int session) {
        return merged.get(session);
    }

    /** A report is merged. @return false if another thread has merged it, or a later one */
    boolean merge(int session, long before, long number) {
        return merged.compareAndSet(session, before, number);
    }
}
