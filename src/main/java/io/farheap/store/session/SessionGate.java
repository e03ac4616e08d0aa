package io.farheap.store.session;

import io.farheap.posix.AsymmetricFence;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.format.SpinWait;
import io.farheap.store.log.Epochs;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Where a session's thread goes into an operation, which is a place in the {@linkplain Epochs epochs}, or into a poll,
 * until the session is closed. It says that it is inside and then looks whether the session is closed; who closes it,
 * which may be another thread, stores that and then looks who is inside, behind an epoch: so either the one waits, or
 * the other sees it and does nothing.
 */
public final class SessionGate {

    private static final VarHandle POLLING;
    private static final VarHandle UPDATING;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            POLLING = lookup.findVarHandle(SessionGate.class, "polling", long.class);
            UPDATING = lookup.findVarHandle(SessionGate.class, "updating", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Epochs epochs;
    private final int epoch;
    private volatile boolean closed;
    /** The thread that is inside a poll, or waits for one, by its id, else 0: stored by that thread. */
    @SuppressWarnings("unused")
    private long polling;
    /** The thread that is inside an update, by its id, else 0; others may see an old one. */
    @SuppressWarnings("unused")
    private long updating;

    /** The thread of the store's close that ends it, by its id, else 0. */
    private volatile long ending;

    /** An operation of a session that is closed. */
    static final class ClosedException extends IllegalStateException {

        private static final long serialVersionUID = 1;

        private ClosedException() {
            super("the session is closed, by its close or the store's");
        }
    }

    public SessionGate(Epochs epochs) {
        this.epochs = epochs;
        this.epoch = epochs.take();
    }

    /** The session's place in the epochs, until it {@linkplain #giveBack gives} it back. */
    public int epoch() {
        return epoch;
    }

    public void giveBack() {
        ending = 0;
        epochs.giveBack(epoch);
    }

    /** @throws IllegalStateException where the session is closed; it is outside then */
    public void enter() {
        // Once it has given its place back, that may be another session's.
        checkOpen();
        epochs.enter(epoch);
        // Where the store has closed it meanwhile nobody gets its place.
        if (closed) {
            leave();
            checkOpen();
        }
    }

    public void leave() {
        epochs.leave(epoch);
    }

    /** {@link #enter} for an update, which runs code that is not the store's. */
    public void enterUpdate() {
        enter();
        UPDATING.setOpaque(this, Thread.currentThread().threadId());
    }

    public void leaveUpdate() {
        UPDATING.setOpaque(this, 0L);
        leave();
    }

    /** Whether it is inside an operation. What it did before it left is seen by who is told no. */
    boolean inside() {
        return epochs.inside(epoch);
    }

    /** @throws IllegalStateException where the session is closed, or the thread polls it already; it is outside then */
    public void enterPoll() {
        if ((long) POLLING.getOpaque(this) == Thread.currentThread().threadId()) {
            throw new IllegalStateException("a callback cannot poll its session: poll when that has returned");
        }
        POLLING.setOpaque(this, Thread.currentThread().threadId());
        AsymmetricFence.light();
        if (closed) {
            leavePoll();
            checkOpen();
        }
    }

    public void leavePoll() {
        POLLING.setRelease(this, 0L);
    }

    /** Before the session is closed, which takes from under an update or a poll what it goes on with. */
    public void refuseWithin() {
        String what = runBy(Thread.currentThread().threadId());
        if (what != null) {
            throw new IllegalStateException(what + " cannot close its session: close it when that has returned");
        }
    }

    /** Which code of the application's a thread, by its id, runs here, or null; the calling one sees that of itself. */
    @Nullable
    String runBy(long thread) {
        if ((long) UPDATING.getOpaque(this) == thread) {
            return "an update";
        }
        return (long) POLLING.getOpaque(this) == thread || ending == thread ? "a callback" : null;
    }

    /** The calling thread, which closes the store, runs callbacks and updates until it {@linkplain #giveBack ends}. */
    void endHere() {
        ending = Thread.currentThread().threadId();
    }

    /** Returns when nobody is inside a poll: behind {@link #close} and an epoch. */
    void awaitPoll() {
        for (int rounds = 0; (long) POLLING.getAcquire(this) != 0; ) {
            rounds = SpinWait.wait(rounds);
        }
    }

    public void checkOpen() {
        if (closed) {
            throw new ClosedException();
        }
    }

    /** Nobody goes in any more. Who is in an operation may be until the present epoch has passed. */
    void close() {
        closed = true;
    }

    boolean closed() {
        return closed;
    }

    /**
     * Calls back. If the session ends, an operation that the callback would begin is refused, and the callback has had
     * its own operation's outcome: so the refusal is no failure of the end.
     *
     * @param ending whether the session ends
     */
    static void tell(StoreCompletion completion, long token, int status, int bytes, boolean ending) {
        try {
            completion.completed(token, status, bytes);
        } catch (ClosedException e) {
            if (!ending) {
                throw e;
            }
        }
    }
}
