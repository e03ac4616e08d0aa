package io.farheap.manager.state;

import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/** The node whose version is the epoch. */
final class EpochNode {

    /** The most steps in one transaction: each has an answer of 100 bytes and more. */
    private static final int MOST_STEPS = 4_000;

    /** The node at one moment. */
    record EpochSnapshot(int version, EpochStatus standing) {}

    private final CuratorFramework client;

    EpochNode(CuratorFramework client) {
        this.client = client;
    }

    /** Returns null if the node does not exist. */
    @Nullable
    EpochSnapshot find() throws Exception {
        try {
            return see();
        } catch (KeeperException.NoNodeException e) {
            return null;
        }
    }

    EpochSnapshot see() throws Exception {
        Stat stat = new Stat();
        byte[] data = client.getData().storingStatIn(stat).forPath(NodePaths.EPOCH);
        return new EpochSnapshot(stat.getVersion(), EpochStatus.decode(data));
    }

    /**
     * Writes the node if it has the given version.
     *
     * @return the new version
     * @throws KeeperException.BadVersionException if it has another version; also if this write has happened, but its
     *     answer was lost with the connection
     */
    int set(int version, EpochStatus standing) throws Exception {
        return client.setData()
                .withVersion(version)
                .forPath(NodePaths.EPOCH, standing.encode())
                .getVersion();
    }

    /**
     * Raises the version: above another one or, if that is too far away for one transaction, towards it; by one at
     * least.
     *
     * @param version that it has
     * @param above the other version
     * @param writes version of {@link NodePaths#WRITES}, which is a condition too
     * @throws KeeperException.BadVersionException as {@link #set}
     */
    void raise(int version, int above, int writes, EpochStatus standing) throws Exception {
        int steps = Math.clamp((long) above + 1 - version, 1, MOST_STEPS);
        List<CuratorOp> operations = new ArrayList<>(steps + 1);
        operations.add(client.transactionOp().check().withVersion(writes).forPath(NodePaths.WRITES));
        for (int i = 0; i < steps; i++) {
            byte[] data = i == steps - 1 ? standing.encode() : new byte[0];
            operations.add(
                    client.transactionOp().setData().withVersion(version + i).forPath(NodePaths.EPOCH, data));
        }
        client.transaction().forOperations(operations);
    }
}
