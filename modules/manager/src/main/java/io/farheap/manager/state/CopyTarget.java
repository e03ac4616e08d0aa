package io.farheap.manager.state;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

/** A state that is copied to: from {@link #begin} until it is complete no manager opens it. */
final class CopyTarget implements AutoCloseable {

    private final Place place;
    private final CloseStack opened = new CloseStack();
    private final Connection connection;
    private final Opening opening;
    private final EpochNode node;
    private @Nullable Writes writes;

    /**
     * Changes nothing yet.
     *
     * @throws StateException a manager is there, where there can be one only
     */
    CopyTarget(Place place, Duration patience) {
        this.place = place;
        try {
            ZooKeeperHost host = opened.add(place.start());
            connection = opened.add(new Connection(host.connection(), patience));
            opening = new Opening(connection.client(), reads());
            node = new EpochNode(connection.client());
        } catch (Throwable e) {
            Closing.after(e, opened);
            throw e;
        }
    }

    Reads reads() {
        return connection.reads();
    }

    /** Null where nothing was ever there. */
    @Nullable
    Standing standing() throws Exception {
        EpochNode.Seen seen = node.find();
        return seen == null ? null : seen.standing();
    }

    /** @throws StateException it holds something else than what an earlier copy of the same has left half made */
    void requireFree(Place from) throws Exception {
        Standing standing = standing();
        if (standing != null) {
            requireFree(standing, from);
        }
    }

    private void requireFree(Standing standing, Place from) throws Exception {
        switch (standing) {
            case Standing.Moved moved ->
                throw new StateException(place + " is where a state was that was copied to " + moved.to()
                        + ": copy to where there is none, or " + place.emptied());
            case Standing.HalfMade halfMade -> {
                // The other may be marked as moved already: then this is all that is left of it.
                if (!halfMade.from().equals(from.toString())) {
                    throw new StateException(place + " has a copy of " + halfMade.from() + " that is not complete: "
                            + "run that one once more, or to give it up " + place.emptied());
                }
            }
            case Standing.Open _ -> {
                Contents there = new Contents();
                Tree.walk(reads(), (paths, nodes) -> {
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
    void begin(String copy, Place from, int above) throws Exception {
        Standing mark = new Standing.HalfMade(copy, from.toString());
        opening.makeLayout();
        EpochNode.Seen seen = node.see();
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
        writes = new Writes(connection.client(), reads(), seen.version(), opening.version(NodePaths.WRITES));
        clear();
    }

    private void clear() throws Exception {
        List<String> there = new ArrayList<>();
        Tree.walk(reads(), (paths, _) -> there.addAll(paths));
        Batch batch = new Batch();
        // Children before their parents; the first is the root, which stays.
        for (String path : there.subList(1, there.size()).reversed()) {
            if (!batch.add(path, null)) {
                write(batch);
                batch = new Batch();
                batch.add(path, null);
            }
        }
        write(batch);
    }

    /** @throws StateException somebody else has begun another copy to here, or ZooKeeper does not answer */
    void write(Batch batch) throws Exception {
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
            EpochNode.Seen seen = node.see();
            switch (seen.standing()) {
                case Standing.HalfMade halfMade
                when halfMade.copy().equals(copy) -> {
                    try {
                        node.set(seen.version(), new Standing.Open());
                        return;
                    } catch (KeeperException.BadVersionException e) {
                        // Or its answer was lost: look again.
                    }
                }
                case Standing.Open _ -> {
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
