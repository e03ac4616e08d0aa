package io.farheap.procedure.service;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Contexts that no call uses, for all threads of a server. A call that was stolen ends on another thread than the one
 * on which it began, so contexts move between threads. Each thread keeps a few of its own, and uses this pool if it has
 * none left, or too many. Any thread.
 */
final class CallContextPool {

    private RunningCall[] spares = new RunningCall[64];
    private int count;

    /**
     * Takes a context.
     *
     * @return null if the pool is empty
     */
    synchronized @Nullable RunningCall take() {
        return count == 0 ? null : spares[--count];
    }

    /** Adds a context; the pool keeps as many as one lease may have calls. */
    synchronized void put(RunningCall context) {
        if (count == spares.length && count < LeaseProcedures.MOST_CALLS) {
            spares = Arrays.copyOf(spares, count * 2);
        }
        if (count < spares.length) {
            spares[count++] = context;
        }
    }
}
