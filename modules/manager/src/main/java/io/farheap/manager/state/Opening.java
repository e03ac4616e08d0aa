package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** What a store does first: it makes the nodes that are always there, and raises the epoch. */
final class Opening {

    private final CuratorFramework client;
    private final Reads reads;

    Opening(CuratorFramework client, Reads reads) {
        this.client = client;
        this.reads = reads;
    }

    void makeLayout() throws Exception {
        while (true) {
            List<String> layout = NodePaths.layout();
            List<byte @Nullable []> there = reads.data(layout);
            List<CuratorOp> operations = new ArrayList<>();
            for (int i = 0; i < layout.size(); i++) {
                if (there.get(i) == null) {
                    operations.add(client.transactionOp().create().forPath(layout.get(i), new byte[0]));
                }
            }
            if (operations.isEmpty()) {
                return;
            }
            try {
                client.transaction().forOperations(operations);
                return;
            } catch (KeeperException.NodeExistsException e) {
                // Another store does the same, or this did before its connection was lost: look again.
            }
        }
    }

    /** @return the new epoch; every older store's writes fail from now on */
    int raiseEpoch() throws Exception {
        while (true) {
            int seen = version(NodePaths.EPOCH);
            byte[] note = ("opened=" + Instant.now() + "\n").getBytes(StandardCharsets.UTF_8);
            try {
                return client.setData()
                        .withVersion(seen)
                        .forPath(NodePaths.EPOCH, note)
                        .getVersion();
            } catch (KeeperException.BadVersionException e) {
                // Another store was faster, or this was before its connection was lost. Above either is above all.
            }
        }
    }

    int version(String path) throws Exception {
        return reads.stat(path).getVersion();
    }
}
