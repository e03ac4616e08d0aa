package io.farheap.thread;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** The thread that a session belongs to: the first that uses it, until it is released or that thread has ended. */
public final class OwnerThread {

    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(OwnerThread.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private @Nullable Thread owner;

    /**
     * Makes the calling thread the owner. Costs a load where it is.
     *
     * @throws IllegalStateException where another has it, and lives
     */
    public void own() {
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
    public void disown() {
        OWNER.setRelease(this, null);
    }
}
