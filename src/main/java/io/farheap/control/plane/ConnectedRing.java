package io.farheap.control.plane;

import io.farheap.verbs.Endpoint;

/**
 * The server's end of a pair of message rings, connected to the client's.
 *
 * @param connectionId names it in {@link ControlPlane#disconnect}
 * @param server the server's queue pair
 * @param ringAddress where the server's ring, for requests, begins
 * @param ringKey its rkey
 */
public record ConnectedRing(long connectionId, Endpoint server, long ringAddress, int ringKey) {}
