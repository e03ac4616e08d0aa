package io.farheap.store;

import io.farheap.lifetime.Closeables;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A pool of sessions for threads that need one for a single operation. Any thread; if all sessions are in use, the
 * thread waits, also a virtual one.
 */
final class SessionPool implements AutoCloseable {

    /** How many sessions there may be, and so how many operations can wait for the device at a time. */
    private static final int MOST = 32;

    private final Supplier<StoreSession> open;
    private final Semaphore places = new Semaphore(MOST);
    private final Queue<StoreSession> idle = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    SessionPool(Supplier<StoreSession> open) {
        this.open = open;
    }

    /** @param work must not call this pool: it could wait for itself if all sessions are in use */
    <R> R with(Function<StoreSession, R> work) {
        checkOpen();
        places.acquireUninterruptibly();
        try {
            checkOpen();
            StoreSession found = idle.poll();
            StoreSession session = found == null ? open.get() : found;
            R result;
            try {
                result = work.apply(session);
            } catch (Throwable e) {
                Closeables.after(e, () -> giveBack(session));
                throw e;
            }
            giveBack(session);
            return result;
        } finally {
            places.release();
        }
    }

    /**
     * Returns a session to the pool. If an exception has come out of it, an operation may be pending; then the session
     * is closed.
     */
    private void giveBack(StoreSession session) {
        boolean sound = false;
        try {
            if (session.pending() == 0) {
                session.release();
                sound = true;
            }
        } finally {
            if (sound) {
                idle.add(session);
            } else {
                session.close();
            }
        }
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the store is closed");
        }
    }

    /** Waits for threads that use a session; others are refused. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        places.acquireUninterruptibly(MOST);
        try {
            Closeables.all(idle);
        } finally {
            idle.clear();
            places.release(MOST);
        }
    }
}
