package io.farheap.kv.leased.server;

import io.farheap.kv.leased.format.LeasedCalls;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of one process, by the numbers that it gives them. A later session of a number takes the place of an
 * earlier one, so there are never more than {@link LeasedCalls#MOST_SESSIONS}; and all together have a bounded number
 * of places, as they are memory of the server. And how many READs the process may report: no more than a connection
 * does in the time that has passed. Any server thread.
 */
final class LeaseSessions {

    /** The most places of all sessions of a process, at 32 bytes each: those of 128 sessions. */
    static final int MOST_PLACES = LeasedCalls.MOST_PLACES;

    /** A process makes no more than one READ in this time, over all of its connections to a server. */
    private static final long NANOS_PER_READ = 250;

    /** Reports come at least so often. */
    private static final long MOST_SAVED_NANOS = 1_000_000_000;

    /** Until when all READs that the process can have made are counted, by the server's clock. */
    private final AtomicLong readsUntil;

    private final AtomicReferenceArray<@Nullable RepeatableCalls> byNumber =
            new AtomicReferenceArray<>(LeasedCalls.MOST_SESSIONS);

    /** What its sessions write. */
    final ReportNumbers reports = new ReportNumbers();

    /** @param now by the server's clock, in ns */
    LeaseSessions(long now) {
        readsUntil = new AtomicLong(now);
    }

    /**
     * Takes from the READs that the process can have made.
     *
     * @param reads that it reports
     * @param now by the server's clock, in ns
     * @return how many of them count
     */
    long take(long reads, long now) {
        while (true) {
            long spentUntil = readsUntil.get();
            long from = Math.max(spentUntil, now - MOST_SAVED_NANOS);
            long count = Math.min(reads, Math.max(0, (now - from) / NANOS_PER_READ));
            if (readsUntil.compareAndSet(spentUntil, from + count * NANOS_PER_READ)) {
                return count;
            }
        }
    }

    /** The process has ended, or has the map open no more: if it opens it again, it has other sessions. */
    void end() {
        reports.end();
    }

    boolean hasEnded() {
        return reports.hasEnded();
    }

    /** How many places its sessions have. */
    private int places() {
        int count = 0;
        for (int i = 0; i < LeasedCalls.MOST_SESSIONS; i++) {
            RepeatableCalls each = byNumber.get(i);
            count += each == null ? 0 : each.places();
        }
        return count;
    }

    /**
     * The calls of a session, which then have a place, or null if a later session has its number, or there would be
     * more than {@link #MOST_PLACES}.
     *
     * @param place 0 to {@link LeasedCalls#MOST_SESSIONS} - 1
     */
    @Nullable
    RepeatableCalls of(long session, int place) {
        RepeatableCalls calls = of(session);
        if (calls == null || calls.has(place)) {
            return calls;
        }
        synchronized (this) {
            if (!calls.has(place) && places() >= MOST_PLACES) {
                return null;
            }
            calls.take(place);
        }
        return calls;
    }

    private @Nullable RepeatableCalls of(long session) {
        int number = LeasedCalls.sessionNumber(session);
        while (true) {
            RepeatableCalls known = byNumber.get(number);
            if (known != null && known.session == session) {
                return known;
            }
            if (known != null && known.session > session) {
                return null;
            }
            byNumber.compareAndSet(number, known, new RepeatableCalls(session, LeasedCalls.MOST_SESSIONS));
        }
    }
}
