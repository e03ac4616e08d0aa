package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;

/**
 * Writes of one epoch. Each write is one transaction, which begins with two conditions: the version of the epoch's node
 * is this epoch, and the version of {@code /farheap/writes} is the one that this store's last write left there.
 *
 * <p>The second condition is for writes of which the answer is lost with the connection. Such a write is sent again. It
 * cannot take effect twice, and if the node has another version, its data says whether that was this write. A write
 * that was given up at last is settled by the next one in the same way, since of two writes on one version only one can
 * take effect.
 *
 * <p>One thread at a time.
 */
final class EpochWriter {

    /**
     * Attempts of a write that finds other nodes than it looked up before. Only this store writes, so more than one is
     * needed only after a defect.
     */
    private static final int ATTEMPTS = 5;

    private static final int EPOCH_CHECK = 0;
    private static final int WRITES_CHECK = 1;

    private final CuratorFramework client;
    private final PipelinedReads reads;
    private final KnownNodes nodes = new KnownNodes();
    private final int epoch;

    private int writesVersion;
    private long sequence;
    /** Whether the outcome of an earlier write is unknown. */
    private boolean unsettled;

    EpochWriter(CuratorFramework client, PipelinedReads reads, int epoch, int writesVersion) {
        this.client = client;
        this.reads = reads;
        this.epoch = epoch;
        this.writesVersion = writesVersion;
    }

    int epoch() {
        return epoch;
    }

    /** Settles earlier writes: when it returns, none is under way. */
    void settle() throws Exception {
        if (unsettled) {
            commit(new StateWriteBatch(List.of()));
        }
    }

    /** Called after all records were read, with the paths of all nodes. */
    void know(List<List<String>> paths) {
        nodes.know(paths);
    }

    void commit(StateWriteBatch batch) throws Exception {
        String marker = ours() + ++sequence;
        for (int attempt = 1; ; attempt++) {
            List<CuratorOp> operations = new ArrayList<>();
            operations.add(client.transactionOp().check().withVersion(epoch).forPath(NodePaths.EPOCH));
            operations.add(client.transactionOp()
                    .setData()
                    .withVersion(writesVersion)
                    .forPath(NodePaths.WRITES, marker.getBytes(StandardCharsets.UTF_8)));
            operations.addAll(batch.operations(client, reads, nodes));
            try {
                if (happens(operations, marker)) {
                    unsettled = false;
                    batch.happened(nodes);
                    return;
                }
                nodes.forget();
            } catch (StaleEpochException e) {
                throw e;
            } catch (Exception e) {
                unsettled = true;
                nodes.forget();
                if (e instanceof InterruptedException) {
                    Thread.currentThread().interrupt();
                }
                throw new StateException("the outcome of a write is unknown, and the next call finds it out: " + e, e);
            }
            if (attempt == ATTEMPTS) {
                throw new StateException("nothing was written: another process changes the state at the same time");
            }
        }
    }

    /**
     * Sends a transaction. After any exception but {@link StaleEpochException} it is unknown whether it has taken
     * effect.
     *
     * @return false if it has not, since a node is other than was looked up before
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
            // There are results only if the server has judged the operations.
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

    /**
     * Another write than expected was the last one: continues from its version.
     *
     * @return whether it was this write
     */
    private boolean adopt(String marker) throws Exception {
        Stat stat = new Stat();
        byte[] data = client.getData().storingStatIn(stat).forPath(NodePaths.WRITES);
        String last = new String(data, StandardCharsets.UTF_8);
        if (!last.startsWith(ours())) {
            checkEpoch();
            throw new StateException(
                    NodePaths.WRITES + " was changed by a process that is no manager: open the state again");
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

    void checkEpoch() throws Exception {
        if (reads.stat(NodePaths.EPOCH).getVersion() != epoch) {
            throw stale();
        }
    }

    StaleEpochException stale() {
        return new StaleEpochException("another manager has opened the state since this one did, in epoch " + epoch
                + ": this one does not lead any more, and must stop");
    }
}
