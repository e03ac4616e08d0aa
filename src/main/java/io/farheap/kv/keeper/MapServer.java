package io.farheap.kv.keeper;

import io.farheap.remote.RemoteSpace;

/**
 * One server of a map, as a process has it: its part of the space, and calls to its service.
 *
 * @param number among the map's
 */
public record MapServer(int number, RemoteSpace space, MapServiceClient line) {

    /** HOST:PORT, as the map has it. */
    public String address() {
        return space.server().address();
    }
}
