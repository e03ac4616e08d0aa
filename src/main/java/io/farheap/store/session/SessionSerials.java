package io.farheap.store.session;

import io.farheap.store.contract.StoreException;
import io.farheap.store.log.LogThread;
import io.farheap.store.operation.SessionVersion;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A session's serials: how many operations it has accepted, in earlier lives too; how many of them belong to versions
 * before its current one; and how many are in a durable checkpoint. The session's thread counts and passes to versions,
 * both inside an epoch; the thread that makes checkpoints reads the counts and stores {@code durable}.
 */
public final class SessionSerials {

    private static final long NAP_NANOS = 200_000;

    private final SessionVersion version;
    /** Stored inside an epoch; another thread reads it after it has seen the session outside. */
    private long accepted;
    /** The number of accepted operations when the session last passed to another version, and that version. */
    private long passed;

    private volatile long passedVersion;
    private volatile long durable;

    /** @param accepted in earlier lives; all of them are durable */
    public SessionSerials(SessionVersion version, long accepted) {
        this.version = version;
        this.accepted = accepted;
        this.durable = accepted;
        this.passedVersion = version.own();
    }

    /** Passes to the store's version if that is ahead, before the operation changes anything. */
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

    /** How many operations were accepted. Called by the session's thread. */
    public long accepted() {
        return accepted;
    }

    /**
     * How many operations belong to versions before {@code version}. Called by the thread that makes the checkpoint,
     * after it has begun that version and called {@code epochs.advance}.
     *
     * @param gate the session's
     * @return negative if that is not known yet, since the session is inside an operation
     */
    long before(long version, SessionGate gate) {
        if (passedVersion < version) {
            if (gate.inside()) {
                return -1;
            }
            // The session was outside. If it has entered since, it has passed to the version first.
            long now = accepted;
            if (passedVersion < version) {
                return now;
            }
        }
        return passed;
    }

    /** Says that a durable checkpoint has the first {@code operations} operations. */
    void durable(long operations) {
        durable = operations;
    }

    /** How many operations are in a durable checkpoint. Any thread. */
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
                    throw new StoreException(
                            "nothing can be made durable at this moment: " + failure.getMessage(), failure);
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
