package io.farheap.manager.state;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** A state that is copied to: from {@link #begin} until it is complete no manager opens it. */
final class CopyTarget implements AutoCloseable {

    private final StateLocation place;
    private final CloseStack opened = new CloseStack();
    private final ZooKeeperConnection connection;
    private final StoreOpener opening;
    private final EpochNode node;
    private @Nullable EpochWriter writes;

    /**
     * Changes nothing yet.
     *
     * @throws StateException a manager is there, where there can be one only
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

    /** Null where nothing was ever there. */
    @Nullable
    EpochStatus standing() throws Exception {
        EpochNode.EpochSnapshot seen = node.find();
        return seen == null ? null : seen.standing();
    }

    /** @throws StateException it holds something else than what an earlier copy of the same has left half made */
    void requireFree(StateLocation from) throws Exception {
        EpochStatus standing = standing();
        if (standing != null) {
            requireFree(standing, from);
        }
    }

    private void requireFree(EpochStatus standing, StateLocation from) throws Exception {
        switch (standing) {
            case EpochStatus.MovedState moved ->
                throw new StateException(place + " is where a state was that was copied to " + moved.to()
                        + ": copy to where there is none, or " + place.emptied());
            case EpochStatus.IncompleteCopy halfMade -> {
                // The other may be marked as moved already: then this is all that is left of it.
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
                            + ": copy to where nothing is, or " + place.emptied());
                }
            }
        }
    }

    /**
     * From here on it is half made, and has nothing in it.
     *
     * @param above its epoch is above this from now on
     */
    void begin(String copy, StateLocation from, int above) throws Exception {
        EpochStatus mark = new EpochStatus.IncompleteCopy(copy, from.toString());
        opening.makeLayout();
        EpochNode.EpochSnapshot seen = node.see();
        while (seen.version() <= above || !seen.standing().equals(mark)) {
            // Before the look at what is there: whatever is written after it changes this version.
            int written = opening.version(NodePaths.WRITES);
            if (!seen.standing().equals(mark)) {
                requireFree(seen.standing(), from);
            }
            try {
                node.raise(seen.version(), above, written, mark);
            } catch (KeeperException.BadVersionException e) {
                // Somebody else has opened or written it, or this has and its answer was lost: look again.
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

    /** @throws StateException somebody else has begun another copy to here, or ZooKeeper does not answer */
    void write(StateWriteBatch batch) throws Exception {
        try {
            Objects.requireNonNull(writes, "not begun").commit(batch);
        } catch (StaleEpochException e) {
            throw another(e);
        } catch (StateException e) {
            throw new StateException("cannot write to " + place + ", so run the copy once more: " + e.getMessage(), e);
        }
    }

    /** Managers may open it. To repeat it does no harm. */
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
                        // Or its answer was lost: look again.
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
        return new StateException("somebody else copies to " + place + " too: see which of the two is to be", cause);
    }

    @Override
    public void close() {
        opened.close();
    }
}
