package io.farheap.manager.state;

import java.nio.file.Path;
import javax.security.sasl.SaslException;
import org.apache.zookeeper.server.quorum.QuorumPeer;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** A server of a ZooKeeper ensemble on a thread. */
final class PeerServer extends QuorumPeerMain implements AutoCloseable, ZooKeeperServerThread.Body {

    private final QuorumPeerConfig config;
    private final ZooKeeperServerThread thread;

    /** Creates a server that has not started. Its directory contains its id in a file {@code myid}. */
    PeerServer(Path directory, Ensemble ensemble) {
        config = ZooKeeperConfig.parse(directory, ensemble.properties());
        thread = new ZooKeeperServerThread(directory, config, this);
    }

    /**
     * Starts the server, and returns when it searches for the other servers; it serves when it has found half of them.
     *
     * @return its port for clients
     * @throws StateException if it does not start; it must be closed nevertheless
     */
    int start() {
        return thread.start();
    }

    boolean running() {
        return thread.running();
    }

    @Override
    protected QuorumPeer getQuorumPeer() throws SaslException {
        return new QuorumPeer() {
            @Override
            public synchronized void start() {
                super.start();
                thread.serves(getClientPort());
            }
        };
    }

    @Override
    public void run() throws Exception {
        runFromConfig(config);
    }

    /** After a start that failed halfway, ZooKeeper itself has not cleaned up. */
    @Override
    public void cleanUp() {
        if (quorumPeer == null) {
            return;
        }
        stop();
        try {
            // If the peer was not started, this has not closed its files and its port.
            quorumPeer.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void stop() {
        if (quorumPeer != null) {
            quorumPeer.shutdown();
        }
    }

    /** As {@link ZooKeeperServerThread#close}. */
    @Override
    public void close() {
        thread.close();
    }
}
