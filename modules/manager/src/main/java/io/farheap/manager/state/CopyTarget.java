package io.farheap.manager.state;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** A state that is copied to: from {@link #begin} until the copy is complete no manager can open it. */
final class CopyTarget implements AutoCloseable {

    private final StateLocation place;
    private final CloseStack opened = new CloseStack();
    private final ZooKeeperConnection connection;
    private final StoreOpener opening;
    private final EpochNode node;
    private @Nullable EpochWriter writes;

    /**
     * Connects; changes nothing yet.
     *
     * @throws StateException if a manager uses a place that only one process can use at a time
     */
    CopyTarget(StateLocation place, Duration patience) {
        this.place = place;
        try {
            ZooKeeperHost host = opened.add(place.start());
            connection = opened.add(new ZooKeeperConnection(host.connection(), patience));
            opening = new StoreOpener(connection.client(), reads());
            node = new EpochNode(connection.client());
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    PipelinedReads reads() {
        return connection.reads();
    }

    /** Null if there was never a state. */
    @Nullable
    EpochStatus standing() throws Exception {
        EpochNode.EpochSnapshot seen = node.find();
        return seen == null ? null : seen.standing();
    }

    /** @throws StateException if it holds anything but what an earlier copy of the same source has left incomplete */
    void requireFree(StateLocation from) throws Exception {
        EpochStatus standing = standing();
        if (standing != null) {
            requireFree(standing, from);
        }
    }

    private void requireFree(EpochStatus standing, StateLocation from) throws Exception {
        switch (standing) {
            case EpochStatus.MovedState moved ->
                throw new StateException(place + " had a state that was copied to " + moved.to()
                        + ": copy to a place that is empty, or " + place.emptied());
            case EpochStatus.IncompleteCopy halfMade -> {
                // The source may be marked as moved already: then this is the only copy that is left.
                if (!halfMade.from().equals(from.toString())) {
                    throw new StateException(place + " has a copy of " + halfMade.from() + " that is not complete: "
                            + "run that one once more, or to give it up " + place.emptied());
                }
            }
            case EpochStatus.OpenState _ -> {
                StateStatistics there = new StateStatistics();
                NodeTree.walk(reads(), (paths, nodes) -> {
                    for (int i = 0; i < paths.size(); i++) {
                        there.add(paths.get(i), nodes.get(i).data());
                    }
                });
                if (!there.isEmpty()) {
                    throw new StateException(place + " is not empty, it has " + there
                            + ": copy to a place that is empty, or " + place.emptied());
                }
            }
        }
    }

    /**
     * Marks the state as incomplete and empties it.
     *
     * @param above its epoch is above this from now on
     */
    void begin(String copy, StateLocation from, int above) throws Exception {
        EpochStatus mark = new EpochStatus.IncompleteCopy(copy, from.toString());
        opening.makeLayout();
        EpochNode.EpochSnapshot seen = node.see();
        while (seen.version() <= above || !seen.standing().equals(mark)) {
            // Read before the examination of the content: any later write of content changes this version.
            int written = opening.version(NodePaths.WRITES);
            if (!seen.standing().equals(mark)) {
                requireFree(seen.standing(), from);
            }
            try {
                node.raise(seen.version(), above, written, mark);
            } catch (KeeperException.BadVersionException e) {
                // Another process has opened or written it, or this has and its answer was lost: look again.
            }
            seen = node.see();
        }
        writes = new EpochWriter(connection.client(), reads(), seen.version(), opening.version(NodePaths.WRITES));
        clear();
    }

    private void clear() throws Exception {
        List<String> there = new ArrayList<>();
        NodeTree.walk(reads(), (paths, _) -> there.addAll(paths));
        StateWriteBatch batch = new StateWriteBatch();
        // Children before their parents; the first is the root, which stays.
        for (String path : there.subList(1, there.size()).reversed()) {
            if (!batch.add(path, null)) {
                write(batch);
                batch = new StateWriteBatch();
                batch.add(path, null);
            }
        }
        write(batch);
    }

    /** @throws StateException if another copy to here has begun, or ZooKeeper does not answer */
    void write(StateWriteBatch batch) throws Exception {
        try {
            Objects.requireNonNull(writes, "not begun").commit(batch);
        } catch (StaleEpochException e) {
            throw another(e);
        } catch (StateException e) {
            throw new StateException("cannot write to " + place + ", so run the copy once more: " + e.getMessage(), e);
        }
    }

    /** Lets managers open it. To repeat this does no harm. */
    void release(String copy) throws Exception {
        while (true) {
            EpochNode.EpochSnapshot seen = node.see();
            switch (seen.standing()) {
                case EpochStatus.IncompleteCopy halfMade
                when halfMade.copy().equals(copy) -> {
                    try {
                        node.set(seen.version(), new EpochStatus.OpenState());
                        return;
                    } catch (KeeperException.BadVersionException e) {
                        // Another process has changed it, or the answer of this was lost: look again.
                    }
                }
                case EpochStatus.OpenState _ -> {
                    return;
                }
                default -> throw another(null);
            }
        }
    }

    private StateException another(@Nullable Exception cause) {
        return new StateException("another process copies to " + place + " too: run only one of the two copies", cause);
    }

    @Override
    public void close() {
        opened.close();
    }
}
