package io.farheap.server.fence;

import org.jspecify.annotations.Nullable;

/** A point at which a test makes a thread of the server fail or pause; nothing else sets it. It is on no hot path. */
public final class FailPoint {

    private volatile @Nullable Runnable next;

    /**
     * Sets what happens at the point, once.
     *
     * @param happening runs on the next thread that reaches the point
     */
    public void set(Runnable happening) {
        next = happening;
    }

    /** Whether no thread has reached the point since it was set. */
    public boolean isSet() {
        return next != null;
    }

    /** Called by the thread that reaches the point. */
    public void strike() {
        Runnable happening = next;
        if (happening != null) {
            next = null;
            happening.run();
        }
    }
}
