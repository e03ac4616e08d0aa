package io.farheap.manager.state;

import io.farheap.lifetime.Closeables;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The state in ZooKeeper, below {@code /farheap}: one node for each server and each cache. The version of
 * {@code /farheap/epoch} is the epoch: opening a store raises it, and each write is made on condition that it is still
 * the store's own. If the connection is lost, calls try again until their patience ends.
 */
public final class ZooKeeperStore implements StateStore, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(15);

    private final ZooKeeperConnection connection;
    private final PipelinedReads reads;
    private final EpochWriter writes;
    /** Reads and writes take turns, so that a read sees all of a write or nothing of it. */
    private final ReentrantLock turn = new ReentrantLock();

    private final AtomicBoolean asks = new AtomicBoolean();
    private volatile boolean followed;

    /**
     * Connects and raises the epoch.
     *
     * @param connection of ZooKeeper: one or more host:port, separated by commas
     * @throws StateException if ZooKeeper cannot be reached, or if the state was copied elsewhere, is being copied, or
     *     is an incomplete copy
     */
    public ZooKeeperStore(String connection) {
        this(connection, PATIENCE);
    }

    /** @param patience for how long a call tries again when the connection is lost */
    public ZooKeeperStore(String connection, Duration patience) {
        this.connection = new ZooKeeperConnection(connection, patience);
        reads = this.connection.reads();
        try {
            StoreOpener opening = new StoreOpener(this.connection.client(), reads);
            int epoch = opening.open();
            // Read after the epoch was raised: an older store may write until then.
            writes = new EpochWriter(this.connection.client(), reads, epoch, opening.version(NodePaths.WRITES));
        } catch (Throwable e) {
            StateException failure = this.connection.failure("cannot open the state in ZooKeeper at " + connection, e);
            Closeables.after(failure, this.connection);
            throw failure;
        }
    }

    @Override
    public long epoch() {
        return writes.epoch();
    }

    @Override
    public ManagerState load() {
        turn.lock();
        try {
            writes.settle();
            return read();
        } catch (Exception e) {
            throw connection.failure("cannot read the state", e);
        } finally {
            turn.unlock();
        }
    }

    private ManagerState read() throws Exception {
        List<String> servers = paths(List.of(NodePaths.SERVERS));
        List<String> caches = paths(NodePaths.buckets());
        List<String> menu = List.of(NodePaths.MENU);
        List<String> models = paths(List.of(NodePaths.MODELS));
        List<String> tenants = paths(List.of(NodePaths.TENANTS));
        List<String> lives = paths(List.of(NodePaths.LIVES));
        ManagerState state = new ManagerState(
                records(servers, RecordFormat::server),
                records(caches, RecordFormat::cache),
                records(menu, (_, bytes) -> text(bytes)).getFirst(),
                records(models, RecordFormat::model),
                records(tenants, RecordFormat::tenant),
                records(lives, RecordFormat::life));
        writes.checkEpoch();
        writes.know(List.of(servers, caches, menu, models, tenants, lives));
        return state;
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
                // The node was listed a moment ago: a newer store has removed it.
                throw writes.stale();
            }
            records.add(decoder.decode(paths.get(i), bytes));
        }
        return records;
    }

    @Override
    public void write(List<StateChange> changes) {
        StateWriteBatch batch = new StateWriteBatch(changes);
        turn.lock();
        try {
            writes.commit(batch);
        } catch (Exception e) {
            throw connection.failure("cannot write the state", e);
        } finally {
            turn.unlock();
        }
    }

    /**
     * Whether another store has opened the state since, by ZooKeeper's latest answer. Each call sends a new request if
     * none is under way, and waits for nothing. Once true it stays true.
     */
    public boolean followed() {
        if (!followed && asks.compareAndSet(false, true)) {
            try {
                connection
                        .client()
                        .checkExists()
                        .inBackground((_, answer) -> {
                            Stat stat = answer.getStat();
                            if (stat != null && stat.getVersion() != writes.epoch()) {
                                followed = true;
                            }
                            asks.set(false);
                        })
                        .forPath(NodePaths.EPOCH);
            } catch (Exception e) {
                // The store's next write will report the failure.
                asks.set(false);
            }
        }
        return followed;
    }

    /** Ends the connection; calls that are under way fail. The state stays. Idempotent. */
    @Override
    public void close() {
        connection.close();
    }
}
