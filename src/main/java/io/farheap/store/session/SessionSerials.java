package io.farheap.store.session;

import io.farheap.store.contract.StoreException;
import io.farheap.store.log.LogThread;
import io.farheap.store.operation.SessionVersion;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How many operations a session has accepted, of its earlier lives too; how many of them, the first so many, belong to
 * versions before its own; and how many are in a checkpoint that is durable. The session's thread counts and passes to
 * versions, both inside an epoch; who makes checkpoints asks and tells.
 */
public final class SessionSerials {

    private static final long NAP_NANOS = 200_000;

    private final SessionVersion version;
    /** Stored inside the epoch, read by who saw the session outside. */
    private long accepted;
    /** How many there were when it last passed to another version, and which. */
    private long passed;

    private volatile long passedVersion;
    private volatile long durable;

    /** @param accepted in earlier lives: all durable */
    public SessionSerials(SessionVersion version, long accepted) {
        this.version = version;
        this.accepted = accepted;
        this.durable = accepted;
        this.passedVersion = version.own();
    }

    /** Passes to the store's version, if that is ahead: before anything is changed. */
    public void look() {
        if (version.look()) {
            passed = accepted;
            version.pass();
            passedVersion = version.own();
        }
    }

    public void accept(int operations) {
        accepted += operations;
    }

    /** By the session's thread. */
    public long accepted() {
        return accepted;
    }

    /**
     * How many operations belong to versions before that one, by another thread: {@code epochs.advance} was called
     * behind the version's beginning.
     *
     * @param gate the session's
     * @return negative where that is not known yet, as the session is inside an operation
     */
    long before(long version, SessionGate gate) {
        if (passedVersion < version) {
            if (gate.inside()) {
                return -1;
            }
            // It is outside. If it has entered since, it has passed first.
            long now = accepted;
            if (passedVersion < version) {
                return now;
            }
        }
        return passed;
    }

    /** A checkpoint is durable that has so many. */
    void durable(long operations) {
        durable = operations;
    }

    /** Any thread. */
    public long durable() {
        return durable;
    }

    /** As {@link io.farheap.store.StoreSession#awaitDurable}. @param poll the session's */
    public boolean awaitDurable(long operations, Duration atMost, LogThread logThread, BooleanSupplier poll) {
        boolean interrupted = false;
        long began = System.nanoTime();
        try {
            while (durable < operations) {
                interrupted |= Thread.interrupted();
                Throwable failure = logThread.failure();
                if (failure != null) {
                    throw new StoreException("nothing can be made durable any more: " + failure.getMessage(), failure);
                }
                if (Duration.ofNanos(System.nanoTime() - began).compareTo(atMost) >= 0) {
                    return false;
                }
                if (!poll.getAsBoolean()) {
                    LockSupport.parkNanos(this, NAP_NANOS);
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
