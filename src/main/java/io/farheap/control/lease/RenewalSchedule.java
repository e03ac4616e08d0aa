package io.farheap.control.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import org.jspecify.annotations.Nullable;

/**
 * Decides when to renew a lease, and when it is lost: the contract of {@link LeaseKeeper} without threads and without a
 * clock. All times are in ns; those named {@code now} are {@link System#nanoTime}. Used by one thread, but for
 * {@link #heldUntil}.
 */
final class RenewalSchedule {

    /** Least time between the beginnings of two renewals if the first failed. */
    static final long RETRY_NANOS = 100_000_000L;

    /** A renewal that has not ended this long after its time limit is assumed never to end. */
    static final long UNENDED_NANOS = 10_000_000_000L;

    private static final long LATE_NANOS = 1_000_000_000L;
    /** Two clocks drift apart by at most this share. */
    private static final long DRIFT = 1000;

    private final long duration;
    private volatile long renewedAt;
    private long sentAt;
    private long dueAt;
    private boolean asking;
    private @Nullable ControlException failed;
    private @Nullable ControlException lost;

    /**
     * @param now when the lease was asked for, or a moment later: until it is renewed, its duration counts from there
     */
    RenewalSchedule(long durationNanos, long now) {
        duration = durationNanos;
        renewedAt = now;
        dueAt = now + duration / 3;
    }

    /** The time at which to call {@link #begin} next. */
    long dueAt() {
        return dueAt;
    }

    /**
     * Until when the server keeps the lease for certain, if no further renewal succeeds: its duration after the last
     * successful one was sent, less what clocks drift. Any thread.
     */
    long heldUntil() {
        return renewedAt + duration - duration / DRIFT;
    }

    /** Why it is lost, or null while it is kept. */
    @Nullable
    ControlException lost() {
        return lost;
    }

    /**
     * Called when the time has come. Either a renewal begins, which then ends in {@link #succeeded} or {@link #failed};
     * or the lease is {@linkplain #lost lost} now; or there is nothing to do yet.
     *
     * @return how long the renewal may wait for an answer; 0 for no renewal
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
        // A keeper that was stopped past the lease's end still asks: the server may have been stopped as well.
        long within = left > 0 ? left : duration / 3;
        sentAt = now;
        asking = true;
        dueAt = now + within + UNENDED_NANOS;
        return within;
    }

    /**
     * A renewal has a time limit from its carrier, and so it ends by itself, unless there is an error in the carrier.
     * If this thread is late too, the process was stopped: then the renewal's end may still arrive.
     */
    private void unended(long now) {
        if (now - dueAt > LATE_NANOS) {
            dueAt = now + UNENDED_NANOS;
        } else {
            lost = new ControlException(Code.INTERNAL, "the lease cannot be renewed: a renewal has not ended");
        }
    }

    /** Requests a renewal before its time, unless one is in progress. */
    void hasten(long now) {
        if (!asking) {
            dueAt = now;
        }
    }

    void succeeded(long now) {
        asking = false;
        // Not {@code now}: the server's duration began some time between the two.
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
        // A renewal that timed out is repeated at once; one that failed at once waits first, to avoid a busy loop.
        long pause = Math.min(RETRY_NANOS, duration / 3) - (now - sentAt);
        dueAt = now + Math.clamp(pause, 0, left);
    }

    /** The lease cannot be renewed any more. */
    void lose(ControlException cause) {
        lost = cause;
    }
}
