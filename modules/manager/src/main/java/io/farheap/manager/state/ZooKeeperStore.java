package io.farheap.manager.state;

import io.farheap.lifetime.Closing;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.curator.retry.RetryUntilElapsed;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;

/**
 * The state in ZooKeeper, below {@code /farheap}. A write is one transaction, which begins with two conditions: the
 * version of the epoch's node is the one that this store made by opening, and the version of {@code /farheap/writes} is
 * the one that this store's last write left there.
 *
 * <p>The second is for writes whose answer is lost with the connection. Such a write is sent again; it cannot happen
 * twice, and when the node has another version, its data says whether that was this write. A write that is given up at
 * last is settled by the next one in the same way, since of two writes on one version only one can happen.
 */
public final class ZooKeeperStore implements StateStore, AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(15);
    private static final int SESSION_MILLIS = 10_000;
    private static final int CONNECTION_MILLIS = 5_000;
    private static final int RETRY_MILLIS = 100;
    /** Of a write that finds something else than it looked up before. Nobody else writes; this is for defects. */
    private static final int ATTEMPTS = 5;

    private static final int EPOCH_CHECK = 0;
    private static final int WRITES_CHECK = 1;

    private final CuratorFramework client;
    private final PipelinedReads reads;
    private final int epoch;
    /** Reads and writes take turns, so that a read has all of each write. */
    private final ReentrantLock turn = new ReentrantLock();

    private int writesVersion;
    private long sequence;
    /** The outcome of an earlier write is unknown. */
    private boolean unsettled;

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
        client = CuratorFrameworkFactory.builder()
                .connectString(connection)
                .sessionTimeoutMs(SESSION_MILLIS)
                .connectionTimeoutMs(Math.min(CONNECTION_MILLIS, patienceMillis))
                .retryPolicy(new RetryUntilElapsed(patienceMillis, RETRY_MILLIS))
                .ensembleTracker(false)
                .build();
        reads = new PipelinedReads(client, patienceMillis + 2L * CONNECTION_MILLIS);
        try {
            client.start();
            Opening opening = new Opening(client, reads);
            opening.makeLayout();
            epoch = opening.raiseEpoch();
            // After the epoch: an older store may write until then.
            writesVersion = opening.version(NodePaths.WRITES);
        } catch (Throwable e) {
            StateException failure = failure("cannot open the state in ZooKeeper at " + connection, e);
            Closing.after(failure, client);
            throw failure;
        }
    }

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public State load() {
        turn.lock();
        try {
            if (unsettled) {
                commit(new Batch(List.of()));
            }
            return read();
        } catch (Exception e) {
            throw failure("cannot read the state", e);
        } finally {
            turn.unlock();
        }
    }

    private State read() throws Exception {
        try {
            List<String> parents = new ArrayList<>(NodePaths.buckets());
            parents.add(NodePaths.SERVERS);
            List<String> servers = new ArrayList<>();
            List<String> caches = new ArrayList<>();
            List<List<String>> children = reads.children(parents);
            for (int i = 0; i < parents.size(); i++) {
                String parent = parents.get(i);
                List<String> paths = parent.equals(NodePaths.SERVERS) ? servers : caches;
                children.get(i).forEach(name -> paths.add(parent + "/" + name));
            }
            State state = new State(records(servers, RecordFormat::server), records(caches, RecordFormat::cache));
            checkEpoch();
            return state;
        } catch (KeeperException.NoNodeException e) {
            // What was listed a moment ago is gone: a newer store's doing, which is what to tell.
            checkEpoch();
            throw e;
        }
    }

    private interface Decoder<T> {
        T decode(String path, byte[] bytes);
    }

    private <T> List<T> records(List<String> paths, Decoder<T> decoder) throws Exception {
        List<byte[]> data = reads.data(paths);
        List<T> records = new ArrayList<>(paths.size());
        for (int i = 0; i < paths.size(); i++) {
            records.add(decoder.decode(paths.get(i), data.get(i)));
        }
        return records;
    }

    @Override
    public void write(List<Change> changes) {
        Batch batch = new Batch(changes);
        turn.lock();
        try {
            commit(batch);
        } catch (Exception e) {
            throw failure("cannot write the state", e);
        } finally {
            turn.unlock();
        }
    }

    private void commit(Batch batch) throws Exception {
        String marker = ours() + ++sequence;
        for (int attempt = 1; ; attempt++) {
            List<CuratorOp> operations = new ArrayList<>();
            operations.add(client.transactionOp().check().withVersion(epoch).forPath(NodePaths.EPOCH));
            operations.add(client.transactionOp()
                    .setData()
                    .withVersion(writesVersion)
                    .forPath(NodePaths.WRITES, marker.getBytes(StandardCharsets.UTF_8)));
            operations.addAll(batch.operations(client, reads));
            try {
                if (happens(operations, marker)) {
                    unsettled = false;
                    return;
                }
            } catch (StaleEpochException e) {
                throw e;
            } catch (Exception e) {
                unsettled = true;
                throw failure("the outcome of a write is unknown, which the next call finds out", e);
            }
            if (attempt == ATTEMPTS) {
                throw new StateException("nothing was written: somebody else changes the state at the same time");
            }
        }
    }

    /**
     * Any exception but {@link StaleEpochException} leaves it open whether it has happened.
     *
     * @return false: it has not, since something is other than it looked before
     */
    private boolean happens(List<CuratorOp> operations, String marker) throws Exception {
        try {
            writesVersion = client.transaction()
                    .forOperations(operations)
                    .get(WRITES_CHECK)
                    .getResultStat()
                    .getVersion();
            return true;
        } catch (KeeperException e) {
            // There are results only where the server has judged the operations.
            int failed = e.getResults() == null ? -1 : firstFailed(e.getResults());
            if (failed < 0) {
                throw e;
            }
            if (failed == EPOCH_CHECK) {
                throw stale();
            }
            return failed == WRITES_CHECK && adopt(marker);
        }
    }

    /** Another write than expected was the last: takes up from there. @return whether it was this one */
    private boolean adopt(String marker) throws Exception {
        Stat stat = new Stat();
        byte[] data = client.getData().storingStatIn(stat).forPath(NodePaths.WRITES);
        String last = new String(data, StandardCharsets.UTF_8);
        if (!last.startsWith(ours())) {
            checkEpoch();
            throw new StateException(
                    NodePaths.WRITES + " was changed by somebody who is no manager: open the state again");
        }
        writesVersion = stat.getVersion();
        return last.equals(marker);
    }

    private static int firstFailed(List<OpResult> results) {
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) instanceof OpResult.ErrorResult error
                    && error.getErr() != KeeperException.Code.OK.intValue()) {
                return i;
            }
        }
        return -1;
    }

    private String ours() {
        return epoch + "/";
    }

    private void checkEpoch() throws Exception {
        if (reads.stat(NodePaths.EPOCH).getVersion() != epoch) {
            throw stale();
        }
    }

    private StaleEpochException stale() {
        return new StaleEpochException("another manager has opened the state since this one did, in epoch " + epoch
                + ": this one does not lead any more, and must stop");
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
