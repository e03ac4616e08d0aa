package io.farheap.resilience;

import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;

/** Whether what a session has posted to a server may still take effect there, for whoever gives memory back. */
interface Fences {

    /** Whether an operation ended with an unknown outcome and is not fenced. Any thread. */
    boolean mayWrite(RemoteServer server);

    /** Where the session has something under way to a region, asks it to end that connection. Any thread. */
    void wantFence(RemoteRegion region);
}
