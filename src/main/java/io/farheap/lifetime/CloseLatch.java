package io.farheap.lifetime;

import java.util.concurrent.locks.ReentrantLock;

/** Closes a resource for several threads: one does, and the others wait until it has. */
public final class CloseLatch implements AutoCloseable {

    private final AutoCloseable resource;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean closed;

    public CloseLatch(AutoCloseable resource) {
        this.resource = resource;
    }

    /** Who does it gets what it throws; the others get nothing of that. */
    @Override
    public void close() {
        closing.lock();
        try {
            if (!closed) {
                closed = true;
                Closeables.all(resource);
            }
        } finally {
            closing.unlock();
        }
    }
}
