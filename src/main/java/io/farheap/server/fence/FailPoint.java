package io.farheap.server.fence;

import org.jspecify.annotations.Nullable;

/** Where a test lets a thread of the server fail or stand still; nothing else sets it. Asked on no hot path. */
public final class FailPoint {

    private volatile @Nullable Runnable next;

    /** @param happening what the thread meets next, once */
    public void set(Runnable happening) {
        next = happening;
    }

    /** Whether the thread has not met it yet. */
    public boolean isSet() {
        return next != null;
    }

    public void strike() {
        Runnable happening = next;
        if (happening != null) {
            next = null;
            happening.run();
        }
    }
}
