package io.farheap.store.session;

import io.farheap.posix.AsymmetricFence;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.format.SpinWait;
import io.farheap.store.log.Epochs;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Lets a session's thread into an operation, which has a place in the {@linkplain Epochs epochs}, or into a poll, until
 * the session is closed.
 *
 * <p>The session's thread stores that it is inside, and then loads {@code closed}. The thread that closes the session,
 * which may be another one, stores {@code closed}, waits for an epoch, and then looks whether the session's thread is
 * inside. So either the closing thread sees the other inside and waits, or the session's thread sees that the session
 * is closed and does nothing.
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
    /**
     * The id of the thread that is inside a poll, or that waits in it for progress; otherwise 0. That thread stores it.
     */
    @SuppressWarnings("unused")
    private long polling;
    /** The id of the thread that is inside an update, otherwise 0. Other threads may see an old value. */
    @SuppressWarnings("unused")
    private long updating;

    /** The id of the thread that closes the store and thereby ends the session, otherwise 0. */
    private volatile long ending;

    /** Thrown by an operation of a closed session. */
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

    /** The session's place in the epochs, until {@link #giveBack}. */
    public int epoch() {
        return epoch;
    }

    public void giveBack() {
        ending = 0;
        epochs.giveBack(epoch);
    }

    /** @throws IllegalStateException if the session is closed; the thread is outside then */
    public void enter() {
        // After the session has given its place back, the place may be another session's.
        checkOpen();
        epochs.enter(epoch);
        // If the store has closed the session meanwhile, no other session gets its place.
        if (closed) {
            leave();
            checkOpen();
        }
    }

    public void leave() {
        epochs.leave(epoch);
    }

    /** {@link #enter} for an update, which calls code of the application. */
    public void enterUpdate() {
        enter();
        UPDATING.setOpaque(this, Thread.currentThread().threadId());
    }

    public void leaveUpdate() {
        UPDATING.setOpaque(this, 0L);
        leave();
    }

    /**
     * Whether the session's thread is inside an operation. If not, the caller sees everything that it did before it
     * left.
     */
    boolean inside() {
        return epochs.inside(epoch);
    }

    /**
     * @throws IllegalStateException if the session is closed, or if the thread polls it already; the thread is outside
     *     then
     */
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

    /** Refuses to close the session within an update or a callback, which would continue with memory that was freed. */
    public void refuseWithin() {
        String what = runBy(Thread.currentThread().threadId());
        if (what != null) {
            throw new IllegalStateException(what + " cannot close its session: close it when that has returned");
        }
    }

    /**
     * Names the application's code that a thread, given by its id, runs inside this session; null if it runs none.
     * Reliable only for the calling thread's own id.
     */
    @Nullable
    String runBy(long thread) {
        if ((long) UPDATING.getOpaque(this) == thread) {
            return "an update";
        }
        return (long) POLLING.getOpaque(this) == thread || ending == thread ? "a callback" : null;
    }

    /**
     * Called by the thread that closes the store: it runs the session's callbacks and updates until {@link #giveBack}.
     */
    void endHere() {
        ending = Thread.currentThread().threadId();
    }

    /** Returns when no thread is inside a poll. The caller has called {@link #close} and waited for an epoch. */
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

    /** From now on no thread gets in. A thread may be inside an operation until the current epoch has passed. */
    void close() {
        closed = true;
    }

    boolean closed() {
        return closed;
    }

    /**
     * Calls a completion. If the session ends, an operation that the callback begins is refused; the callback has
     * received the outcome of its own operation, so that refusal does not make the end fail.
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
