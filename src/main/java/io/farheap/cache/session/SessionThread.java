package io.farheap.cache.session;

import io.farheap.thread.OwnerThread;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The thread that a session belongs to, which other threads wake if it sleeps. */
public class SessionThread extends OwnerThread {

    /** The owner, while it sleeps or is about to. */
    private volatile @Nullable Thread sleeper;

    SessionThread() {
        super("session");
    }

    /** The owner is about to look for the last time before it sleeps. */
    final void fallsAsleep() {
        sleeper = Thread.currentThread();
    }

    final void isAwake() {
        sleeper = null;
    }

    /** Wakes the owner, if it sleeps. Any thread. */
    public final void wake() {
        Thread thread = sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }
}
