package io.farheap.remote.server;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;

/**
 * Whether a server has let a call pass its deadline just now. Many connections to it may have to be ended one after the
 * other: the first call waits as long as calls do, the others learn from that one, until the server answers something
 * or as much time has gone by again. Thread-safe.
 */
final class CircuitBreaker {

    private static final long LASTS_NANOS = 5_000_000_000L;
    private static final long NONE = 0;

    /** {@code nanoTime} of the call that was not answered last, or {@link #NONE}. */
    private volatile long since;

    void begin() {
        since = System.nanoTime() | 1;
    }

    void end() {
        if (since != NONE) {
            since = NONE;
        }
    }

    /** Throws where it lasts. */
    void check(String address) {
        long began = since;
        if (began != NONE && System.nanoTime() - began < LASTS_NANOS) {
            throw new ControlException(
                    Code.DEADLINE_EXCEEDED, "memory server " + address + " has not answered another call");
        }
    }
}
