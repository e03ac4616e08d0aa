package io.farheap.cache.session;

import io.farheap.remote.device.CompletionEvents;
import io.farheap.verbs.CompletionChannel;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A session's thread while it sleeps, and all that wakes it: other threads and, from its first sleep on, the events of
 * its completion channel. The channel is watched inside the session's gate, or with it claimed.
 *
 * <p><b>Sleep.</b> The owner stores that it sleeps, and then looks for the last time; a thread that has something for
 * it makes that visible first, and then loads whether the owner sleeps. So one of the two sees the other.
 */
public final class SessionSleeper {

    /** For which a thread sleeps that no event will wake. */
    private static final long UNWOKEN_NANOS = 1_000_000;

    /** Null where paths sleep by themselves. */
    private final @Nullable CompletionEvents all;
    /** {@link #wake}, made once: a thread that goes to sleep allocates nothing. */
    private final Runnable waking = this::wake;

    private long token;

    /** The owner, while it sleeps or is about to. The owner writes it. */
    private volatile @Nullable Thread sleeper;

    SessionSleeper(@Nullable CompletionEvents all) {
        this.all = all;
    }

    /** The owner is about to look for the last time before it sleeps. */
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

    /** Events of the channel wake the owner from now on. */
    void watch(@Nullable CompletionChannel channel) {
        if (token == 0 && channel != null && all != null) {
            token = all.add(channel, waking);
        }
    }

    /**
     * The channel is not watched any more, once what this returns has been {@linkplain #forget forgotten}, outside of
     * the gate.
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

    /** @return how long to sleep, where an event would do for as long as {@code patience}; 0 for ever */
    long patience(long patience) {
        return all != null && all.dead() ? UNWOKEN_NANOS : patience;
    }
}
