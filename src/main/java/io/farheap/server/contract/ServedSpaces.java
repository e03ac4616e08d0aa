package io.farheap.server.contract;

import org.jspecify.annotations.Nullable;

/**
 * The shared spaces of a server, for services in its process. A call's handler gets the lease of its caller from
 * {@link io.farheap.rpc.HeldRegions#lease}. Thread-safe.
 */
public interface ServedSpaces {

    /**
     * Finds a space; only for handlers on a server thread. The space's memory stays valid until the handler returns,
     * since the end of a space waits for handlers that are being executed. Allocates nothing.
     *
     * @return null if there is no such space, or it has ended
     */
    @Nullable
    ServedSpace find(long spaceId);

    /**
     * Pins a space, on any thread.
     *
     * @return the pin; the caller closes it soon, since the end of the space waits for it. Null if there is no such
     *     space, or it has ended
     */
    @Nullable
    SpacePin use(long spaceId);

    /** Calls the listener from now on. */
    void listen(SpaceListener listener);
}
