package io.farheap.server.contract;

/**
 * A service that keeps something of its own for spaces or their clients. Told on threads that end leases and spaces, or
 * serve a client's call: it must be short, must not wait for a client, and may ask for a {@link SpacePin}. What it
 * throws is logged.
 */
public interface SpaceListener {

    /**
     * A lease does not have a space open any more, as it has ended or has closed the space: none of its operations will
     * take effect any more. The lease cannot open that space again before this returns. Not told of a space that has
     * ended.
     */
    default void openingEnded(long spaceId, long leaseId) {}

    /** A space has ended, and nobody in this process uses its memory any more. */
    default void spaceEnded(long spaceId) {}
}
