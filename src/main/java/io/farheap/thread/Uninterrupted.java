package io.farheap.thread;

import java.util.function.Supplier;

/** Does work that an interrupt would end. The thread is interrupted again afterwards, for its caller. */
public final class Uninterrupted {

    private Uninterrupted() {}

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
}
