package io.farheap.remote.server;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;

/**
 * Whether a call to a server has recently passed its deadline. Many connections to a server may have to be ended one
 * after the other: the first call waits for its full deadline, and later ones fail at once, until the server answers
 * any call or {@link #LASTS_NANOS} have passed. Thread-safe.
 */
final class CircuitBreaker {

    private static final long LASTS_NANOS = 5_000_000_000L;
    private static final long NONE = 0;

    /** {@code nanoTime} of the last call that was not answered, or {@link #NONE}. */
    private volatile long since;

    void begin() {
        since = System.nanoTime() | 1;
    }

    void end() {
        if (since != NONE) {
            since = NONE;
        }
    }

    /** Throws if a recent call was not answered. */
    void check(String address) {
        long began = since;
        if (began != NONE && System.nanoTime() - began < LASTS_NANOS) {
            throw new ControlException(
                    Code.DEADLINE_EXCEEDED, "memory server " + address + " has not answered another call");
        }
    }
}
