package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** The first steps of a store: creates the nodes that always exist, and raises the epoch, if that is allowed. */
final class StoreOpener {

    private final CuratorFramework client;
    private final PipelinedReads reads;
    private final EpochNode node;

    StoreOpener(CuratorFramework client, PipelinedReads reads) {
        this.client = client;
        this.reads = reads;
        node = new EpochNode(client);
    }

    /**
     * Opens the state to serve it.
     *
     * @return the new epoch; every older store's writes fail from now on
     * @throws StateException if no manager may open the state, or it is being copied
     */
    int open() throws Exception {
        return open(true);
    }

    /** Opens the state to copy it: as {@link #open()}, but also during a copy. */
    int openToCopy() throws Exception {
        return open(false);
    }

    private int open(boolean toServe) throws Exception {
        EpochNode.EpochSnapshot seen = node.find();
        if (seen != null) {
            // An incomplete copy must not be changed.
            seen.standing().requireOpen();
        }
        makeLayout();
        return raiseEpoch(toServe);
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
                // Another store does the same, or this has and its connection was lost: look again.
            }
        }
    }

    private int raiseEpoch(boolean toServe) throws Exception {
        while (true) {
            EpochNode.EpochSnapshot seen = node.see();
            seen.standing().requireOpen();
            // Looked for after the version was read: a copy that begins after this look raises the version.
            if (toServe) {
                requireNoCopy();
            }
            try {
                return node.set(seen.version(), new EpochStatus.OpenState());
            } catch (KeeperException.BadVersionException e) {
                // Another store was faster, or this was, and its connection was lost. In both cases the next version is
                // above all.
            }
        }
    }

    private void requireNoCopy() throws Exception {
        byte[] to = reads.data(List.of(NodePaths.COPYING)).getFirst();
        if (to != null) {
            throw new StateException("the state is being copied to " + new String(to, StandardCharsets.UTF_8)
                    + ", and no manager leads here meanwhile; if that copy was killed, this ends after "
                    + ZooKeeperConnection.SESSION_MILLIS / 1_000 + " s");
        }
    }

    int version(String path) throws Exception {
        return reads.stat(path).getVersion();
    }
}
