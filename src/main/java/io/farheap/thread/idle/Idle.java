package io.farheap.thread.idle;

import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/** How a polling thread idles while it finds no work. */
public enum Idle {

    /** Keeps polling: the lowest latency, at the cost of a whole core. */
    SPIN,
    /**
     * Polls less and less often, down to once in a millisecond, which is the most that a wake-up then takes; no event
     * wakes it.
     */
    BACK_OFF,
    /** Polls for a while, then sleeps until an event wakes it: no CPU, and a wake-up costs tens of microseconds. */
    PARK;

    /** How many rounds without work, of some tens of ns each, come before a change of behaviour. */
    static final int SPINS = 2_000;

    static final int YIELDS = 100;
    private static final long MIN_PAUSE_NANOS = 1_000;
    private static final long MAX_PAUSE_NANOS = 1_000_000;

    /**
     * Makes the idle strategy of one agent.
     *
     * @param sleep used by {@link #PARK}: looks for work once more, sleeps, and returns when there may be work
     */
    public IdleStrategy strategy(Runnable sleep) {
        return switch (this) {
            case SPIN -> BusySpinIdleStrategy.INSTANCE;
            case BACK_OFF -> new BackoffIdleStrategy(SPINS, YIELDS, MIN_PAUSE_NANOS, MAX_PAUSE_NANOS);
            case PARK -> new SleepingIdleStrategy(sleep);
        };
    }
}
