package io.farheap.manager.state;

import java.nio.file.Path;
import java.util.Map;
import org.apache.zookeeper.server.ServerConfig;
import org.apache.zookeeper.server.ZooKeeperServerMain;
import org.apache.zookeeper.server.quorum.QuorumPeerConfig;

/**
 * ZooKeeper's server on a thread. ZooKeeper's own {@code ZooKeeperServerEmbedded} has the same purpose, but after a
 * start that fails it waits until the time is up and hides the cause, and it leaves threads and files behind.
 */
final class StandaloneServer extends ZooKeeperServerMain implements AutoCloseable, ZooKeeperServerThread.Body {

    private final ServerConfig config = new ServerConfig();
    private final ZooKeeperServerThread thread;

    /** Creates a server that has not started. */
    StandaloneServer(Path directory) {
        QuorumPeerConfig parsed = ZooKeeperConfig.parse(directory, Map.of());
        config.readFrom(parsed);
        thread = new ZooKeeperServerThread(directory, parsed, this);
    }

    /**
     * @return its port
     * @throws StateException if it does not start; it must be closed nevertheless
     */
    int start() {
        return thread.start();
    }

    boolean running() {
        return thread.running();
    }

    @Override
    protected void serverStarted() {
        thread.serves(getClientPort());
    }

    @Override
    public void run() throws Exception {
        runFromConfig(config);
    }

    /**
     * After a start that failed halfway ZooKeeper has not cleaned up; the usual close() would wait for threads that
     * were never stopped.
     */
    @Override
    public void cleanUp() {
        shutdown();
    }

    @Override
    public void stop() {
        super.close();
    }

    /** As {@link ZooKeeperServerThread#close}. */
    @Override
    public void close() {
        thread.close();
    }
}
