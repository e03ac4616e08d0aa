package io.farheap.manager.state;

import io.farheap.lifetime.Closing;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryUntilElapsed;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ZKConfig;
import org.jspecify.annotations.Nullable;

/**
 * The state in ZooKeeper, below {@code /farheap}: one node for each server and each cache. The version of
 * {@code /farheap/epoch} is the epoch: opening a store raises it, and each write is on condition that it is still the
 * store's own. When the connection is lost, calls try again until their patience ends.
 */
public final class ZooKeeperStore implements StateStore, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final int SESSION_MILLIS = 10_000;
    private static final int CONNECTION_MILLIS = 5_000;
    private static final int RETRY_MILLIS = 100;

    private final CuratorFramework client;
    private final Reads reads;
    private final Writes writes;
    /** Reads and writes take turns, so that a read has all of each write. */
    private final ReentrantLock turn = new ReentrantLock();

    /**
     * Connects and raises the epoch.
     *
     * @param connection of ZooKeeper: one or more host:port, separated by commas
     * @throws StateException it cannot be reached
     */
    public ZooKeeperStore(String connection) {
        this(connection, PATIENCE);
    }

    /** @param patience for how long a call tries again when the connection is lost */
    public ZooKeeperStore(String connection, Duration patience) {
        int patienceMillis = Math.toIntExact(patience.toMillis());
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKConfig.JUTE_MAXBUFFER, String.valueOf(Reads.ANSWER_BYTES));
        client = CuratorFrameworkFactory.builder()
                .connectString(connection)
                .sessionTimeoutMs(SESSION_MILLIS)
                .connectionTimeoutMs(Math.min(CONNECTION_MILLIS, patienceMillis))
                .retryPolicy(new RetryUntilElapsed(patienceMillis, RETRY_MILLIS))
                .ensembleTracker(false)
                .zkClientConfig(config)
                .build();
        reads = new Reads(client, patienceMillis + 2L * CONNECTION_MILLIS);
        try {
            client.start();
            Opening opening = new Opening(client, reads);
            opening.makeLayout();
            int epoch = opening.raiseEpoch();
            // After the epoch: an older store may write until then.
            writes = new Writes(client, reads, epoch, opening.version(NodePaths.WRITES));
        } catch (Throwable e) {
            StateException failure = failure("cannot open the state in ZooKeeper at " + connection, e);
            Closing.after(failure, client);
            throw failure;
        }
    }

    @Override
    public long epoch() {
        return writes.epoch();
    }

    @Override
    public State load() {
        turn.lock();
        try {
            writes.settle();
            return read();
        } catch (Exception e) {
            throw failure("cannot read the state", e);
        } finally {
            turn.unlock();
        }
    }

    private State read() throws Exception {
        List<String> servers = paths(List.of(NodePaths.SERVERS));
        List<String> caches = paths(NodePaths.buckets());
        State state = new State(
                records(servers, RecordFormat::server),
                records(caches, RecordFormat::cache),
                records(List.of(NodePaths.MENU), (_, bytes) -> text(bytes)).getFirst(),
                records(paths(List.of(NodePaths.MODELS)), ZooKeeperStore::model),
                records(paths(List.of(NodePaths.TENANTS)), RecordFormat::tenant));
        writes.checkEpoch();
        return state;
    }

    private static ModelRecord model(String path, byte[] bytes) {
        return new ModelRecord(path.substring(NodePaths.MODELS.length() + 1), text(bytes));
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private List<String> paths(List<String> parents) throws Exception {
        List<String> paths = new ArrayList<>();
        List<List<String>> children = reads.children(parents);
        for (int i = 0; i < parents.size(); i++) {
            String parent = parents.get(i);
            children.get(i).forEach(name -> paths.add(parent + "/" + name));
        }
        return paths;
    }

    private interface Decoder<T> {
        T decode(String path, byte[] bytes);
    }

    private <T> List<T> records(List<String> paths, Decoder<T> decoder) throws Exception {
        List<byte @Nullable []> data = reads.data(paths);
        List<T> records = new ArrayList<>(paths.size());
        for (int i = 0; i < paths.size(); i++) {
            byte[] bytes = data.get(i);
            if (bytes == null) {
                // It was listed a moment ago: a newer store has removed it.
                throw writes.stale();
            }
            records.add(decoder.decode(paths.get(i), bytes));
        }
        return records;
    }

    @Override
    public void write(List<Change> changes) {
        Batch batch = new Batch(changes);
        turn.lock();
        try {
            writes.commit(batch);
        } catch (Exception e) {
            throw failure("cannot write the state", e);
        } finally {
            turn.unlock();
        }
    }

    private StateException failure(String what, Throwable cause) {
        if (cause instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        if (cause instanceof StateException known) {
            return known;
        }
        boolean closed = client.getState() == CuratorFrameworkState.STOPPED;
        return new StateException(what + ": " + (closed ? "the store is closed" : cause), cause);
    }

    /** Ends the connection; calls that are under way fail. The state stays. Idempotent. */
    @Override
    public void close() {
        client.close();
    }
}
