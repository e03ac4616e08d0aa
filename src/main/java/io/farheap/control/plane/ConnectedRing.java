package io.farheap.control.plane;

import io.farheap.verbs.Endpoint;

/**
 * The server's end of a pair of message rings, connected to the client's.
 *
 * @param connectionId names it in {@link ControlPlane#disconnect}
 * @param server the server's queue pair
 * @param ringAddress remote address of the server's ring, for requests
 * @param ringKey its rkey
 */
public record ConnectedRing(long connectionId, Endpoint server, long ringAddress, int ringKey) {}
