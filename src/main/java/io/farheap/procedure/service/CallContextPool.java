package io.farheap.procedure.service;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Contexts that no call has, of all threads of a server: a call ends on the thread that executed it last, which is
 * another than it began on where it was stolen. A thread has a few of its own, and comes here where it has none, or too
 * many. Any thread.
 */
final class CallContextPool {

    private RunningCall[] spares = new RunningCall[64];
    private int count;

    /** @return null where there is none */
    synchronized @Nullable RunningCall take() {
        return count == 0 ? null : spares[--count];
    }

    /** Keeps as many as one lease may have calls. */
    synchronized void put(RunningCall context) {
        if (count == spares.length && count < LeaseProcedures.MOST_CALLS) {
            spares = Arrays.copyOf(spares, count * 2);
        }
        if (count < spares.length) {
            spares[count++] = context;
        }
    }
}
