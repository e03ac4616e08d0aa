package io.farheap.migration.region;

import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.PacedPull;
import io.farheap.verbs.Context;
import org.jspecify.annotations.Nullable;

/**
 * A region's move, prepared up to the point at which requests would be affected: a region on the new server, mapped,
 * and a pull that waits for the first chunk to be cleared. One thread at a time.
 */
public final class ReadyMove implements AutoCloseable {

    private final int index;
    private final @Nullable RemoteServer from;
    private final RemoteRegion target;
    /** Whether the target was granted for this move, and has nothing of the region yet. */
    private final boolean granted;
    /** The part that the pull copies if the region has not changed meanwhile; null if there was nothing to move. */
    private final @Nullable Part part;
    /** Throws if the move is not wanted any more; it is called while waiting, so that the wait ends. */
    private final Runnable wanted;
    /** Null if it has been handed over, or there is none. */
    private @Nullable PacedPull pull;

    private ReadyMove(
            int index,
            @Nullable RemoteServer from,
            RemoteRegion target,
            boolean granted,
            @Nullable Part part,
            Runnable wanted,
            @Nullable PacedPull pull) {
        this.index = index;
        this.from = from;
        this.target = target;
        this.granted = granted;
        this.part = part;
        this.wanted = wanted;
        this.pull = pull;
    }

    static ReadyMove of(
            Context context,
            int index,
            SplitRegion region,
            @Nullable RemoteServer from,
            RemoteServer destination,
            int pieceBytes,
            Runnable wanted) {
        wanted.run();
        RemoteRegion there = region.copyOn(destination);
        RemoteRegion target = there == null ? destination.allocate(1).getFirst() : there;
        try {
            int extent = region.toMove(from, target);
            Part part = extent < 0 ? null : Part.of(region, extent);
            PacedPull pull = part == null ? null : part.begin(context, target, pieceBytes, wanted);
            return new ReadyMove(index, from, target, there == null, part, wanted, pull);
        } catch (Throwable e) {
            if (there == null) {
                destination.releaseQuietly(target);
            }
            throw e;
        }
    }

    /** A part of a region that is in one copy. */
    private record Part(RemoteRegion copy, long start, long end) {

        static Part of(SplitRegion region, int extent) {
            return new Part(region.copy(extent), region.start(extent), region.end(extent));
        }

        PacedPull begin(Context context, RemoteRegion target, int pieceBytes, Runnable wanted) {
            return PacedPull.begin(context, target, copy, start, end, pieceBytes, wanted);
        }

        boolean is(Part other) {
            return copy == other.copy && start == other.start && end == other.end;
        }
    }

    /** Index of the virtual region. */
    int index() {
        return index;
    }

    /** The server that the region leaves; null to move all of it. */
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

    /**
     * A pull for an extent of the region as it is now; the caller closes it. It is the waiting pull if that is for this
     * extent. If the region has moved since, the waiting pull would copy a part that is not there any more.
     */
    PacedPull pull(Context context, SplitRegion region, int extent, int pieceBytes) {
        Part next = Part.of(region, extent);
        PacedPull waiting = pull;
        if (waiting != null && part != null && part.is(next)) {
            pull = null;
            return waiting;
        }
        return next.begin(context, target, pieceBytes, wanted);
    }

    /** Whether it can still be used: a server keeps a prepared pull for a limited time. */
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

    /** Ends a move that is not made, and gives everything back. */
    public void abandon() {
        try {
            close();
        } finally {
            if (granted) {
                target.server().releaseQuietly(target);
            }
        }
    }

    /** Ends the pull if it still waits. */
    @Override
    public void close() {
        PacedPull waiting = pull;
        pull = null;
        Closeables.all(waiting);
    }
}
