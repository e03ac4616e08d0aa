package io.farheap.cache.session;

import io.farheap.remote.device.CompletionEvents;
import io.farheap.verbs.CompletionChannel;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The sleep of a session's thread. Other threads wake it and, from its first sleep on, the events of its completion
 * channel. Methods that begin or end watching the channel are called inside the session's gate, or with it claimed.
 *
 * <p><b>Sleep.</b> The owner stores itself in {@code sleeper}, and then polls for the last time. A thread that has work
 * for it publishes the work first, and then loads {@code sleeper}. The field is volatile, so either the owner's last
 * poll finds the work, or the other thread finds the owner and unparks it.
 */
public final class SessionSleeper {

    /** How long a thread sleeps at most if no event will wake it, since the thread that waits for events is dead. */
    private static final long UNWOKEN_NANOS = 1_000_000;

    /** Null if the paths themselves sleep and wake. */
    private final @Nullable CompletionEvents all;
    /** {@link #wake} as one object, so that a thread that goes to sleep allocates nothing. */
    private final Runnable waking = this::wake;

    private long token;

    /** The owner, while it sleeps or is about to. The owner writes it. */
    private volatile @Nullable Thread sleeper;

    SessionSleeper(@Nullable CompletionEvents all) {
        this.all = all;
    }

    /** Called by the owner before it polls for the last time and sleeps. */
    void fallsAsleep() {
        sleeper = Thread.currentThread();
    }

    void isAwake() {
        sleeper = null;
    }

    /** Wakes the owner, if it sleeps. Any thread. */
    public void wake() {
        Thread thread = sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /** Makes events of the channel wake the owner from now on. */
    void watch(@Nullable CompletionChannel channel) {
        if (token == 0 && channel != null && all != null) {
            token = all.add(channel, waking);
        }
    }

    /**
     * Ends watching the channel. The caller passes the result to {@link #forget}, outside of the gate; until that
     * returns, events may still wake the owner.
     */
    long leave() {
        long left = token;
        token = 0;
        return left;
    }

    void forget(long left) {
        if (left != 0 && all != null) {
            all.remove(left);
        }
    }

    /** @return how long to sleep: {@code patience}, or less if no thread waits for events any more; 0 for ever */
    long patience(long patience) {
        return all != null && all.dead() ? UNWOKEN_NANOS : patience;
    }
}
