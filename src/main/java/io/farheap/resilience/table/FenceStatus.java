package io.farheap.resilience.table;

import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import java.util.concurrent.CompletableFuture;

/** Whether what a session has posted to a server may still take effect there, for whoever gives memory back. */
public interface FenceStatus {

    /** Whether an operation ended with an unknown outcome and is not fenced. Any thread. */
    boolean mayWrite(RemoteServer server);

    /** Whether the session has something under way to a region. Any thread. */
    boolean isUsing(RemoteRegion region);

    /** Where the session has something under way to a region, asks it to end that connection. Any thread. */
    void wantFence(RemoteRegion region);

    /**
     * Ends the session's connection to a server in its place. Any thread but the session's in a poll.
     *
     * @return completes when nothing that it has posted there before takes effect any more
     */
    CompletableFuture<Void> fence(RemoteServer server);
}
