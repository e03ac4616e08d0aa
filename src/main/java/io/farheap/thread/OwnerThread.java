package io.farheap.thread;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The thread that owns an object, such as a session or a handle: the first one that uses it, until it releases the
 * object or ends.
 */
public class OwnerThread {

    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(OwnerThread.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String owned;
    private @Nullable Thread owner;

    /** @param owned a noun for messages, such as "session" */
    public OwnerThread(String owned) {
        this.owned = owned;
    }

    /** Whether the calling thread is the owner. */
    public final boolean isCurrent() {
        return owner == Thread.currentThread();
    }

    /** The owner's name, for messages. Any thread may call it. */
    public final String name() {
        Thread thread = (Thread) OWNER.getAcquire(this);
        return thread == null ? "none" : thread.toString();
    }

    /**
     * Makes the calling thread the owner. Costs one load if it is already.
     *
     * @throws IllegalStateException if another thread is the owner and has not ended
     */
    public final void own() {
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
            throw new IllegalStateException("the " + owned + " belongs to thread " + previous.getName()
                    + "; it must call release() before " + current.getName() + " may use the " + owned);
        }
    }

    /** Releases the object: another thread may become the owner. */
    public final void disown() {
        OWNER.setRelease(this, null);
    }
}
