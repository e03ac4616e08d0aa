package io.farheap.resilience.table;

import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.concurrent.CompletableFuture;

/**
 * Whether operations that a session has posted to a server may still take effect there. The thread that gives memory
 * back to a server asks this first.
 */
public interface FenceStatus {

    /** Whether an operation has ended with an unknown outcome and its connection is not fenced yet. Any thread. */
    boolean mayWrite(RemoteServer server);

    /** Whether the session has outstanding operations to a region. Any thread. */
    boolean isUsing(RemoteRegion region);

    /** If the session has outstanding operations to a region, asks it to end that connection. Any thread. */
    void wantFence(RemoteRegion region);

    /**
     * Ends the session's connection to a server on behalf of the session. Any thread, but not the session's own inside
     * a poll.
     *
     * @return completes when nothing that the session has posted there before can take effect any more
     */
    CompletableFuture<Void> fence(RemoteServer server);
}
