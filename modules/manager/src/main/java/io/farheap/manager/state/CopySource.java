package io.farheap.manager.state;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/**
 * A state that is copied from: after it is fenced no manager can write it, and after the copy no manager can open it
 * again.
 */
final class CopySource implements AutoCloseable {

    private final StateLocation place;
    private final CloseStack opened = new CloseStack();
    private final ZooKeeperHost host;
    private final ZooKeeperConnection connection;
    private final EpochNode node;
    private int epoch;

    /**
     * Connects; changes nothing yet.
     *
     * @throws StateException if the state is in use, or there is none
     */
    CopySource(StateLocation place, Duration patience) throws Exception {
        this.place = place;
        try {
            place.requireBegun();
            host = opened.add(place.start());
            connection = opened.add(new ZooKeeperConnection(host.connection(), patience));
            node = new EpochNode(connection.client());
            if (node.find() == null) {
                throw new StateException("no manager has ever kept its state in " + place);
            }
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    PipelinedReads reads() {
        return connection.reads();
    }

    EpochStatus standing() throws Exception {
        return node.see().standing();
    }

    /**
     * Fences the state: a manager that leads on it can write no more, and no manager can lead on it until this is
     * closed.
     *
     * @return its epoch, above all that memory servers have seen
     */
    int fence(StateLocation to) throws Exception {
        // A directory has a lock that keeps other managers out. In a shared ZooKeeper a fenced manager would be elected
        // again, and would fence this.
        if (host.shared()) {
            try {
                connection
                        .client()
                        .create()
                        .withMode(CreateMode.EPHEMERAL)
                        .forPath(NodePaths.COPYING, to.toString().getBytes(StandardCharsets.UTF_8));
            } catch (KeeperException.NodeExistsException e) {
                throw new StateException(
                        "another copy from " + place + " is under way, or was killed: a killed copy ends within "
                                + ZooKeeperConnection.SESSION_MILLIS / 1_000 + " s, so wait and try again",
                        e);
            }
        }
        epoch = new StoreOpener(connection.client(), reads()).openToCopy();
        return epoch;
    }

    /** Marks the state as moved: no manager opens it again. Fails if another has opened it since it was fenced. */
    void moved(String copy, StateLocation to) throws Exception {
        EpochStatus moved = new EpochStatus.MovedState(copy, to.toString());
        try {
            node.set(epoch, moved);
        } catch (KeeperException.BadVersionException e) {
            // If the answer was lost with the connection, this write itself has changed the version.
            if (!standing().equals(moved)) {
                throw new StateException(
                        "a manager has opened " + place
                                + " meanwhile, and may have changed it: stop it, and copy again",
                        e);
            }
        }
    }

    @Override
    public void close() {
        opened.close();
    }
}
