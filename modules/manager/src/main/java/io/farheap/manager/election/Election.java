package io.farheap.manager.election;

import io.farheap.lifetime.Closeables;
import java.io.IOException;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.state.SessionConnectionStateErrorPolicy;
import org.apache.curator.retry.RetryUntilElapsed;

/** A manager's part in the election of a leader, by Curator's leader latch. Thread-safe. */
public final class Election implements AutoCloseable {

    private static final String PATH = "/farheap-leader";
    /** After this time without a sign of life from the leader another manager is elected. */
    private static final int SESSION_MILLIS = 6_000;

    private static final int CONNECTION_MILLIS = 3_000;
    private static final int PATIENCE_MILLIS = 2_000;
    private static final int RETRY_MILLIS = 100;

    private final CuratorFramework client;
    private final LeaderLatch latch;

    /**
     * Takes part in the election as soon as ZooKeeper is reached.
     *
     * @param connection of ZooKeeper: one or more host:port, separated by commas
     * @param address at which this manager is reached; the other managers name it while this one leads
     */
    public Election(String connection, String address) {
        client = CuratorFrameworkFactory.builder()
                .connectString(connection)
                .sessionTimeoutMs(SESSION_MILLIS)
                .connectionTimeoutMs(CONNECTION_MILLIS)
                .retryPolicy(new RetryUntilElapsed(PATIENCE_MILLIS, RETRY_MILLIS))
                // A connection that is lost for a moment is no reason to resign: the epoch guards what is written.
                .connectionStateErrorPolicy(new SessionConnectionStateErrorPolicy())
                .ensembleTracker(false)
                .build();
        latch = new LeaderLatch(client, PATH, address);
        try {
            client.start();
            latch.start();
        } catch (Throwable e) {
            Closeables.after(e, client);
            throw e instanceof RuntimeException known ? known : new IllegalStateException("no election begins", e);
        }
    }

    /** Whether this manager is elected, as far as it knows. */
    public boolean elected() {
        return latch.hasLeadership();
    }

    /**
     * Returns the address of the elected manager; empty if none is elected, or if that cannot be found out now. Waits
     * for ZooKeeper.
     */
    public String leader() {
        if (!client.getZookeeperClient().isConnected()) {
            return "";
        }
        try {
            return latch.getLeader().getId();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "";
        } catch (Exception e) {
            return "";
        }
    }

    /** Leaves the election: another manager is elected at once. */
    @Override
    public void close() {
        try {
            latch.close();
        } catch (IOException e) {
            // If this failed, the manager's node disappears with the session, which ends here.
        } finally {
            client.close();
        }
    }
}
