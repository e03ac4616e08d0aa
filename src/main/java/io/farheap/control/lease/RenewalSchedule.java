package io.farheap.control.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import org.jspecify.annotations.Nullable;

/**
 * When a lease is to be renewed, and when it is lost: the contract of {@link LeaseKeeper} without threads and without a
 * clock. All times are in ns, those called {@code now} as {@link System#nanoTime}'s. Of one thread.
 */
final class RenewalSchedule {

    /** At least between the beginnings of two renewals of which the first failed. */
    static final long RETRY_NANOS = 100_000_000L;

    /** After its time limit a renewal that has not ended is taken for one that never will. */
    static final long UNENDED_NANOS = 10_000_000_000L;

    private static final long LATE_NANOS = 1_000_000_000L;

    private final long duration;
    private long renewedAt;
    private long sentAt;
    private long dueAt;
    private boolean asking;
    private @Nullable ControlException failed;
    private @Nullable ControlException lost;

    /** @param now when the lease was opened, or a moment later */
    RenewalSchedule(long durationNanos, long now) {
        duration = durationNanos;
        renewedAt = now;
        dueAt = now + duration / 3;
    }

    /** When {@link #begin} is to be called next. */
    long dueAt() {
        return dueAt;
    }

    /** Why it is lost, or null while it is kept. */
    @Nullable
    ControlException lost() {
        return lost;
    }

    /**
     * It is time for a renewal, which then ends in {@link #succeeded} or {@link #failed}; or the lease is
     * {@linkplain #lost lost} now; or there is nothing to do yet.
     *
     * @return how long the renewal may wait for an answer; 0 for none
     */
    long begin(long now) {
        if (asking) {
            unended(now);
            return 0;
        }
        long left = duration - (now - renewedAt);
        if (left <= 0 && failed != null) {
            lost = failed;
            return 0;
        }
        // A keeper that has slept through the lease asks all the same: so may the server have done.
        long within = left > 0 ? left : duration / 3;
        sentAt = now;
        asking = true;
        dueAt = now + within + UNENDED_NANOS;
        return within;
    }

    /**
     * A renewal has its time limit from whoever carries it, and so it ends by itself, but for an error there. Where
     * this thread is late too, the process was stopped: then the end may be on its way.
     */
    private void unended(long now) {
        if (now - dueAt > LATE_NANOS) {
            dueAt = now + UNENDED_NANOS;
        } else {
            lost = new ControlException(Code.INTERNAL, "the lease cannot be renewed: a renewal has not ended");
        }
    }

    /** It is to be renewed before its time, unless that is under way. */
    void hasten(long now) {
        if (!asking) {
            dueAt = now;
        }
    }

    void succeeded(long now) {
        asking = false;
        // Not now: the server's time has begun some time between the two.
        renewedAt = sentAt;
        failed = null;
        dueAt = now + duration / 3;
    }

    void failed(ControlException e, long now) {
        asking = false;
        long left = duration - (now - renewedAt);
        if (e.code() == Code.LEASE_EXPIRED || left <= 0) {
            lost = e;
            return;
        }
        failed = e;
        // One that has waited for an answer is repeated at once, one that failed at once not in a loop.
        long pause = Math.min(RETRY_NANOS, duration / 3) - (now - sentAt);
        dueAt = now + Math.clamp(pause, 0, left);
    }

    /** Nobody can renew it any more. */
    void lose(ControlException cause) {
        lost = cause;
    }
}
