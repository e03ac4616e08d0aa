package io.farheap.cache;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The thread that a session belongs to: the first that uses it, until it is released or that thread has ended. */
class SessionThread {

    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(SessionThread.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private @Nullable Thread owner;
    /** The owner, while it sleeps or is about to. */
    private volatile @Nullable Thread sleeper;

    /** Whether it is the calling thread. */
    boolean isCurrent() {
        return owner == Thread.currentThread();
    }

    /** For messages. Any thread. */
    String name() {
        Thread thread = (Thread) OWNER.getAcquire(this);
        return thread == null ? "none" : thread.toString();
    }

    /** Makes the calling thread the owner, or throws. */
    void own() {
        Thread current = Thread.currentThread();
        if (owner != current) {
            own(current);
        }
    }

    private void own(Thread current) {
        Thread previous = (Thread) OWNER.compareAndExchange(this, null, current);
        if (previous == null || previous == current) {
            return;
        }
        if (previous.isAlive() || OWNER.compareAndExchange(this, previous, current) != previous) {
            throw new IllegalStateException("the session belongs to thread " + previous.getName()
                    + "; it must call release() before " + current.getName() + " may use the session");
        }
    }

    /** Another may be the owner from now on. */
    void disown() {
        OWNER.setRelease(this, null);
    }

    /** The owner is about to look for the last time before it sleeps. */
    void fallsAsleep() {
        sleeper = Thread.currentThread();
    }

    void isAwake() {
        sleeper = null;
    }

    /** Wakes the owner, if it sleeps. Any thread. */
    void wake() {
        Thread thread = sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }
}
