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

    /** Has not started. Its directory has its id in a file {@code myid}. */
    PeerServer(Path directory, Ensemble ensemble) {
        config = ZooKeeperConfig.parse(directory, ensemble.properties());
        thread = new ZooKeeperServerThread(directory, config, this);
    }

    /**
     * Returns when it looks for the others; it serves when it has found half of them.
     *
     * @return its port for clients
     * @throws StateException it does not start; it has to be closed all the same
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

    /** Where the start failed halfway nobody has. */
    @Override
    public void cleanUp() {
        if (quorumPeer == null) {
            return;
        }
        stop();
        try {
            // Where it was not started, it has not closed its files and its port by itself.
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
