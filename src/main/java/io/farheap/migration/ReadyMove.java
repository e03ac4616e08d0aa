package io.farheap.migration;

import io.farheap.control.ControlException;
import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.verbs.Context;
import org.jspecify.annotations.Nullable;

/**
 * A region's move up to where requests would notice it: room on the new server, mapped, and a pull that waits for the
 * first chunk to be cleared. One thread at a time.
 */
public final class ReadyMove implements AutoCloseable {

    private final int index;
    private final @Nullable RemoteServer from;
    private final RemoteRegion target;
    /** Whether the target was granted for this move, and has nothing of the region yet. */
    private final boolean granted;
    /** What the pull copies; -1 where nothing is to move. */
    private final int extent;
    /** Null when it is somebody else's, or there is none. */
    private @Nullable PacedPull pull;

    private ReadyMove(
            int index,
            @Nullable RemoteServer from,
            RemoteRegion target,
            boolean granted,
            int extent,
            @Nullable PacedPull pull) {
        this.index = index;
        this.from = from;
        this.target = target;
        this.granted = granted;
        this.extent = extent;
        this.pull = pull;
    }

    static ReadyMove of(
            Context context,
            int index,
            SplitRegion region,
            @Nullable RemoteServer from,
            RemoteServer destination,
            int pieceBytes) {
        RemoteRegion there = region.copyOn(destination);
        RemoteRegion target = there == null ? destination.allocate(1).getFirst() : there;
        try {
            int extent = region.toMove(from, target);
            PacedPull pull = extent < 0 ? null : begin(context, region, extent, target, pieceBytes);
            return new ReadyMove(index, from, target, there == null, extent, pull);
        } catch (Throwable e) {
            if (there == null) {
                destination.releaseQuietly(target);
            }
            throw e;
        }
    }

    private static PacedPull begin(
            Context context, SplitRegion region, int extent, RemoteRegion target, int pieceBytes) {
        return PacedPull.begin(
                context, target, region.copy(extent), region.start(extent), region.end(extent), pieceBytes);
    }

    /** Of the virtual region. */
    int index() {
        return index;
    }

    /** Where it is to leave; null where all of it is to move. */
    @Nullable
    RemoteServer from() {
        return from;
    }

    RemoteRegion target() {
        return target;
    }

    public RemoteServer destination() {
        return target.server();
    }

    /** A pull for an extent of the region, which the caller closes: the one that waits, where it is for that. */
    PacedPull pull(Context context, SplitRegion region, int wanted, int pieceBytes) {
        PacedPull waiting = pull;
        if (waiting != null && wanted == extent) {
            pull = null;
            return waiting;
        }
        return begin(context, region, wanted, target, pieceBytes);
    }

    /** Whether it can still be used: a server does not wait for ever. */
    public boolean holds() {
        try {
            if (pull != null) {
                pull.check();
            }
            return true;
        } catch (ControlException e) {
            return false;
        }
    }

    /** Of a move that is not made: gives everything back. */
    public void abandon() {
        try {
            close();
        } finally {
            if (granted) {
                target.server().releaseQuietly(target);
            }
        }
    }

    /** Ends the pull, where it still waits. */
    @Override
    public void close() {
        PacedPull waiting = pull;
        pull = null;
        Closing.all(waiting);
    }
}
