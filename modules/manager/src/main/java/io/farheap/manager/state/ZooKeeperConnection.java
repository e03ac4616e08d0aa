package io.farheap.manager.state;

import java.time.Duration;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryUntilElapsed;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;

/** A connection to ZooKeeper for the state. If it is lost, calls try again until their patience ends. */
final class ZooKeeperConnection implements AutoCloseable {

    /** After this time ZooKeeper deletes the ephemeral nodes of a client that was killed. */
    static final int SESSION_MILLIS = 10_000;

    private static final int CONNECTION_MILLIS = 5_000;
    private static final int RETRY_MILLIS = 100;

    private final CuratorFramework client;
    private final PipelinedReads reads;

    /**
     * Begins to connect; waits for nothing yet.
     *
     * @param servers one or more host:port, separated by commas
     * @param patience for how long a call tries again
     */
    ZooKeeperConnection(String servers, Duration patience) {
        int patienceMillis = Math.toIntExact(patience.toMillis());
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, String.valueOf(PipelinedReads.ANSWER_BYTES));
        client = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs(SESSION_MILLIS)
                .connectionTimeoutMs(Math.min(CONNECTION_MILLIS, patienceMillis))
                .retryPolicy(new RetryUntilElapsed(patienceMillis, RETRY_MILLIS))
                .ensembleTracker(false)
                .zkClientConfig(config)
                .build();
        reads = new PipelinedReads(client, patienceMillis + 2L * CONNECTION_MILLIS);
        client.start();
    }

    CuratorFramework client() {
        return client;
    }

    PipelinedReads reads() {
        return reads;
    }

    /** @return the exception to throw for a cause */
    StateException failure(String what, Throwable cause) {
        if (cause instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        if (cause instanceof StateException known) {
            return known;
        }
        boolean closed = client.getState() == CuratorFrameworkState.STOPPED;
        return new StateException(what + ": " + (closed ? "the store is closed" : cause), cause);
    }

    /** Calls that are under way fail. Idempotent. */
    @Override
    public void close() {
        client.close();
    }
}
