package io.farheap.control.plane;

import io.farheap.verbs.Endpoint;

/**
 * A queue pair of the server, connected to the client's.
 *
 * @param connectionId names it in {@link ControlPlane#disconnect}
 * @param server the server's end
 */
public record ConnectedQueuePair(long connectionId, Endpoint server) {}
