package io.farheap.store;

import io.farheap.lifetime.Closeables;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.function.Function;
import java.util.function.Supplier;

/** Sessions for whoever needs one for a moment. Any thread; who finds none waits, a virtual thread too. */
final class SessionPool implements AutoCloseable {

    /** Sessions at a time: as many operations can wait for the device. */
    private static final int MOST = 32;

    private final Supplier<StoreSession> open;
    private final Semaphore places = new Semaphore(MOST);
    private final Queue<StoreSession> idle = new ConcurrentLinkedQueue<>();
    private volatile boolean closed;

    SessionPool(Supplier<StoreSession> open) {
        this.open = open;
    }

    /** @param work must not call this pool: it would wait for itself where all sessions are taken */
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

    /** Another thread's turn. One that something has come out of may have an operation pending, which ends with it. */
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

    /** Who is at work finishes; nobody begins. */
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
