package io.farheap.thread;

import java.util.concurrent.locks.LockSupport;

/** Counts a polling thread's fruitless rounds and waits accordingly. One thread. */
public final class IdleRounds {

    /** A round is some tens of ns. */
    private static final int SPINS = 2_000;

    private static final int YIELDS = 100;
    private static final long MIN_PAUSE_NANOS = 1_000;
    private static final long MAX_PAUSE_NANOS = 1_000_000;

    private final Idle idle;
    private int rounds;
    private long pauseNanos = MIN_PAUSE_NANOS;

    public IdleRounds(Idle idle) {
        this.idle = idle;
    }

    /** There was something to do. */
    public void reset() {
        rounds = 0;
        pauseNanos = MIN_PAUSE_NANOS;
    }

    /**
     * There was nothing to do: waits for a while.
     *
     * @return whether the thread should now sleep until an event wakes it
     */
    public boolean fruitless() {
        if (idle == Idle.SPIN || rounds < SPINS) {
            rounds++;
            Thread.onSpinWait();
            return false;
        }
        if (rounds < SPINS + YIELDS) {
            rounds++;
            Thread.yield();
            return false;
        }
        if (idle == Idle.PARK) {
            return true;
        }
        LockSupport.parkNanos(this, pauseNanos);
        pauseNanos = Math.min(2 * pauseNanos, MAX_PAUSE_NANOS);
        return false;
    }
}
