package io.farheap.thread.idle;

import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/** What a polling thread does while it finds nothing to do. */
public enum Idle {

    /** Polls on: the lowest latency, and all of a core. */
    SPIN,
    /** Polls less and less often, up to every millisecond: a wake-up without an event costs that at most. */
    BACK_OFF,
    /** Polls for a while, then sleeps until an event wakes it: no CPU, and a wake-up costs tens of microseconds. */
    PARK;

    /** Fruitless rounds of some tens of ns each. */
    static final int SPINS = 2_000;

    static final int YIELDS = 100;
    private static final long MIN_PAUSE_NANOS = 1_000;
    private static final long MAX_PAUSE_NANOS = 1_000_000;

    /**
     * For one agent.
     *
     * @param sleep where this is {@link #PARK}: returns when there may be something to do, and looks once more before
     *     it sleeps
     */
    public IdleStrategy strategy(Runnable sleep) {
        return switch (this) {
            case SPIN -> BusySpinIdleStrategy.INSTANCE;
            case BACK_OFF -> new BackoffIdleStrategy(SPINS, YIELDS, MIN_PAUSE_NANOS, MAX_PAUSE_NANOS);
            case PARK -> new SleepingIdleStrategy(sleep);
        };
    }
}
