package io.farheap.thread.idle;

import org.agrona.concurrent.IdleStrategy;

/** Spins for a while, yields for a while, and then sleeps until an event wakes it. One thread. */
final class SleepingIdleStrategy implements IdleStrategy {

    private final Runnable sleep;
    private int rounds;

    /**
     * @param sleep looks for work once more, sleeps, and returns when there may be work; it may throw, which ends the
     *     agent
     */
    SleepingIdleStrategy(Runnable sleep) {
        this.sleep = sleep;
    }

    @Override
    public void idle(int workCount) {
        if (workCount > 0) {
            reset();
        } else {
            idle();
        }
    }

    @Override
    public void idle() {
        if (rounds < Idle.SPINS) {
            rounds++;
            Thread.onSpinWait();
        } else if (rounds < Idle.SPINS + Idle.YIELDS) {
            rounds++;
            Thread.yield();
        } else {
            sleep.run();
            reset();
        }
    }

    @Override
    public void reset() {
        rounds = 0;
    }

    @Override
    public String alias() {
        return "sleeping";
    }
}
