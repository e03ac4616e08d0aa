package io.farheap.lifetime;

import java.util.concurrent.locks.ReentrantLock;

/** Closes a resource once for several threads: one thread closes it, and the others wait until it has. */
public final class CloseLatch implements AutoCloseable {

    private final AutoCloseable resource;
    private final ReentrantLock closing = new ReentrantLock();
    private boolean closed;

    public CloseLatch(AutoCloseable resource) {
        this.resource = resource;
    }

    /**
     * Closes the resource. Only the thread that closes it gets an exception of the close; the other threads return
     * normally.
     */
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
