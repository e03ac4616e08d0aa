package io.farheap.thread;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Does what an interrupt would end. The thread is interrupted again afterwards, for its caller. */
public final class Uninterruptibles {

    /** How long an interrupted thread sleeps at most: its permit to wake may have gone with the interrupt. */
    private static final long INTERRUPTED_NANOS = 1_000_000;

    private Uninterruptibles() {}

    /**
     * @param work is done again if an interrupt that came meanwhile has ended it, so it must leave nothing behind when
     *     it throws
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
     * Parks the calling thread as {@link LockSupport#parkNanos(Object, long)} does, which returns at once to a thread
     * that is interrupted: so a thread that waits would use a whole core. A thread that is interrupted already parks
     * for 1 ms at most; an interrupt meanwhile ends the park.
     */
    public static void parkNanos(Object blocker, long nanos) {
        if (!Thread.interrupted()) {
            LockSupport.parkNanos(blocker, nanos);
            return;
        }
        try {
            // To interrupt a thread is to unpark it too, and each wait interrupts it again.
            LockSupport.parkNanos(blocker, 1);
            LockSupport.parkNanos(blocker, Math.min(nanos, INTERRUPTED_NANOS));
        } finally {
            Thread.currentThread().interrupt();
        }
    }
}
