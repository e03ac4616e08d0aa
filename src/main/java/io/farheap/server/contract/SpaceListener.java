package io.farheap.server.contract;

/**
 * A service that keeps state for spaces or their clients. Called on threads that end leases and spaces, or that serve a
 * client's call: it must be short, must not wait for a client, and may ask for a {@link SpacePin}. An exception that it
 * throws is logged.
 */
public interface SpaceListener {

    /**
     * A lease no longer has a space open, because it ended or closed the space: none of its operations takes effect any
     * more. The lease cannot open that space again before this returns. Not called for a space that has ended.
     */
    default void openingEnded(long spaceId, long leaseId) {}

    /** A space has ended, and no thread of this process uses its memory any more. */
    default void spaceEnded(long spaceId) {}
}
