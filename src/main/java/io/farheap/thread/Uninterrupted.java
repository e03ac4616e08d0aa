package io.farheap.thread;

import java.util.function.Supplier;

/** What an interrupt would end, and is done all the same. The interrupt is there afterwards, for the caller. */
public final class Uninterrupted {

    private Uninterrupted() {}

    /**
     * @param work is done again where an interrupt that came meanwhile has ended it, so it leaves nothing behind when
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
