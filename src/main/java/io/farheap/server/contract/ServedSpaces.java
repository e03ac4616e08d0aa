package io.farheap.server.contract;

import org.jspecify.annotations.Nullable;

/**
 * The shared spaces of a server, for services in its process. A call's handler learns the lease that it comes from from
 * {@link io.farheap.rpc.HeldRegions#lease}. Thread-safe.
 */
public interface ServedSpaces {

    /**
     * For handlers on a server thread alone: the space's memory is right until the handler returns, since a space's end
     * waits for what server threads are in the middle of. Allocates nothing.
     *
     * @return null where there is none, or it has ended
     */
    @Nullable
    ServedSpace find(long spaceId);

    /**
     * For any thread.
     *
     * @return to be closed by the caller, soon: the end of the space waits for it. Null where there is none, or it has
     *     ended
     */
    @Nullable
    SpacePin use(long spaceId);

    /** From now on. */
    void listen(SpaceListener listener);
}
