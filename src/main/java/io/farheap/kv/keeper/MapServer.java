package io.farheap.kv.keeper;

import io.farheap.remote.RemoteSpace;

/**
 * A server of a map as a process has it: its part of the space, and calls to its service.
 *
 * @param number among the map's servers
 */
public record MapServer(int number, RemoteSpace space, MapServiceClient line) {

    /** The server's HOST:PORT in the map. */
    public String address() {
        return space.server().address();
    }
}
