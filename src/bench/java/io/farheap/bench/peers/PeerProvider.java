package io.farheap.bench.peers;

import java.nio.file.Path;

/** Opens a peer that needs a client library; a service. */
public interface PeerProvider {

    /** One of the names that {@link Peers} knows. */
    String name();

    /**
     * Starts its server and connects.
     *
     * @param directory of this run, which is deleted after it: for sockets and logs
     * @throws PeerAbsentException if a program or library that it needs is not installed
     */
    Peer open(Path directory) throws Exception;
}
