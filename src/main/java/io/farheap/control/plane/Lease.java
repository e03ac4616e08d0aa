package io.farheap.control.plane;

/**
 * A client's hold on a server.
 *
 * @param id random; any client that knows it can use the lease
 * @param durationNanos how long it lives after it was opened or last renewed
 */
public record Lease(long id, long durationNanos) {

    /** Omits the id, which is a secret. */
    @Override
    public String toString() {
        return "Lease of " + durationNanos / 1_000_000 + " ms";
    }
}
