package io.farheap.thread;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Runs work that an interrupt would end, and restores the interrupt status afterwards for the caller. */
public final class Uninterruptibles {

    /** How long an interrupted thread sleeps at most, since the interrupt may have consumed a permit to wake. */
    private static final long INTERRUPTED_NANOS = 1_000_000;

    private Uninterruptibles() {}

    /**
     * @param work repeated if an interrupt that arrived meanwhile has ended it, so it must leave nothing behind when it
     *     throws
     */
    public static <T> T call(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return work.get();
                } catch (RuntimeException e) {
                    if (!Thread.interrupted()) {
                        throw e;
                    }
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Parks the calling thread. {@link LockSupport#parkNanos(Object, long)} returns at once in a thread whose interrupt
     * status is set, so that a waiting loop would use a whole core. Here such a thread parks for 1 ms at most; an
     * interrupt that arrives meanwhile ends the park.
     */
    public static void parkNanos(Object blocker, long nanos) {
        if (!Thread.interrupted()) {
            LockSupport.parkNanos(blocker, nanos);
            return;
        }
        try {
            // An interrupt also unparks the thread, and so does each wait that restores its status: this consumes that
            // permit.
            LockSupport.parkNanos(blocker, 1);
            LockSupport.parkNanos(blocker, Math.min(nanos, INTERRUPTED_NANOS));
        } finally {
            Thread.currentThread().interrupt();
        }
    }
}
