package io.farheap.cache.move;

import io.farheap.migration.MigrationResult;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Calls listeners of regions that have moved, on the thread that holds the lock for changes. A listener may not change
 * the cache: its change would run within the move.
 */
public final class MoveNotifier {

    private final ReentrantLock changing;
    /** Whether the thread that holds the lock is in a listener. */
    private volatile boolean telling;

    /** @param changing held by the thread that moves regions */
    public MoveNotifier(ReentrantLock changing) {
        this.changing = changing;
    }

    public void tell(Consumer<MigrationResult> listener, MigrationResult result) {
        telling = true;
        try {
            listener.accept(result);
        } finally {
            telling = false;
        }
    }

    /** Throws if the calling thread is in a listener of a move: the cache is in the middle of that. */
    public void refuseInListener() {
        if (telling && changing.isHeldByCurrentThread()) {
            throw new IllegalStateException("a listener of a region that has moved may not change, move or"
                    + " close its cache: do so when the move has returned, or on another thread that it does not wait"
                    + " for");
        }
    }
}
