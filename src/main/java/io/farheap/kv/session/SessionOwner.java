package io.farheap.kv.session;

import io.farheap.thread.OwnerThread;

/**
 * The thread that a map's session belongs to, whether it polls the session, and whether the session is closed: the
 * checks before each use. The owning thread alone calls it.
 */
public final class SessionOwner extends OwnerThread {

    /** Whether a poll is under way; a callback may be running inside it. */
    private boolean polling;

    private boolean closed;

    public SessionOwner() {
        super("session");
    }

    /**
     * Makes the calling thread the owner.
     *
     * @throws IllegalStateException if another living thread is the owner, or the session is closed
     */
    public void checkOpen() {
        own();
        if (closed) {
            throw new IllegalStateException("the session is closed");
        }
    }

    /**
     * As {@link #checkOpen}, for uses that a callback must not make.
     *
     * @throws IllegalStateException also in a callback
     */
    public void checkIdle() {
        checkOpen();
        if (polling) {
            throw new IllegalStateException(
                    "a callback polls, waits or closes its session; make requests there, and return");
        }
    }

    /** Begins a poll, in which callbacks run; {@link #endPoll} follows in any case. */
    public void beginPoll() {
        checkIdle();
        polling = true;
    }

    public void endPoll() {
        polling = false;
    }

    public boolean isPolling() {
        return polling;
    }

    /** Another thread may use the session next. */
    public void release() {
        checkIdle();
        disown();
    }

    /** The session is closed from now on. */
    public void close() {
        closed = true;
    }

    public boolean isClosed() {
        return closed;
    }
}
