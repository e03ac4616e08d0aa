package io.farheap.resilience;

import io.farheap.remote.RemoteServer;

/** Whether what a session has posted to a server may still take effect there, for whoever gives memory back. */
interface Fences {

    /** Whether an operation ended with an unknown outcome and is not fenced. Any thread. */
    boolean mayWrite(RemoteServer server);

    /** Asks the session to end its connection, and what is under way on it. Any thread. */
    void wantFence(RemoteServer server);
}
