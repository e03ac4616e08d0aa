package io.farheap.resilience.session;

import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.table.FenceStatus;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SpaceState;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A session's connections. If one fails, it is fenced and made again in the background while the session continues with
 * other servers. The session's thread, except for the methods of {@link FenceStatus}.
 */
public final class CodedConnections implements FenceStatus {

    /** The bit that marks the tags of reconnects; tags of splits are not negative. */
    private static final long RECONNECT = Long.MIN_VALUE;

    private static final int FIRST_ROOM = 16;

    private final SpaceState space;
    private final RemoteQueue queue;
    /** A connection has failed, and its reconnect has not been started yet. */
    private boolean broken;
    /** The queue is being closed: it no longer reports regions as used, but its queue pairs may still write. */
    private volatile boolean closing;

    private volatile AtomicReferenceArray<CodedConnection> lines = new AtomicReferenceArray<>(FIRST_ROOM);

    public CodedConnections(SpaceState space, RemoteQueue queue) {
        this.space = space;
        this.queue = queue;
    }

    CodedConnection of(RemoteServer server) {
        int index = server.index();
        if (index < lines.length()) {
            CodedConnection line = lines.getPlain(index);
            if (line != null) {
                return line;
            }
        }
        return add(server);
    }

    private CodedConnection add(RemoteServer server) {
        int index = server.index();
        if (index >= lines.length()) {
            AtomicReferenceArray<CodedConnection> more =
                    new AtomicReferenceArray<>(Math.max(index + 1, 2 * lines.length()));
            for (int i = 0; i < lines.length(); i++) {
                more.set(i, lines.get(i));
            }
            lines = more;
        }
        CodedConnection line = new CodedConnection(server, space.record(server), queue.connected(server), 0);
        lines.set(index, line);
        if (!line.connected) {
            begin(line, 0);
        }
        return line;
    }

    /** Whether a split may be asked at a slab now. */
    boolean reaches(Slab slab) {
        return of(slab.region().server()).connected;
    }

    /**
     * Chooses random good slabs of a range that may be asked now, a bit for each; all of them if there are fewer than
     * {@code wanted}.
     *
     * @param last slabs that are chosen only if there are fewer than {@code least} others
     */
    public int someGood(int range, int wanted, int last, int least) {
        int chosen = 0;
        for (int left = space.table.good(range); left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            chosen |= reaches(space.table.slab(range, split)) ? 1 << split : 0;
        }
        for (int left = chosen & last; left != 0 && Integer.bitCount(chosen) > least; left &= left - 1) {
            chosen &= ~Integer.lowestOneBit(left);
        }
        while (Integer.bitCount(chosen) > wanted) {
            chosen &= ~(1 << ThreadLocalRandom.current().nextInt(space.table.splits()));
        }
        return chosen;
    }

    /** Records that an operation ended in error, or was refused, and begins to make the connection again. */
    public void broke(RemoteServer server, long clock) {
        CodedConnection line = of(server);
        if (line.connected) {
            // A connection that was ended to free memory is no failure of the server.
            if (!line.fenceWanted) {
                line.record.countFailure(System.nanoTime());
                server.doubt();
            }
            begin(line, clock);
        }
    }

    /** Ends a connection that has late splits, which is no failure of the server, and begins to make it again. */
    public void end(RemoteServer server, long clock) {
        CodedConnection line = of(server);
        if (line.connected) {
            begin(line, clock);
        }
    }

    private void begin(CodedConnection line, long clock) {
        line.unfenced = true;
        line.fenceWanted = false;
        line.connected = false;
        line.since = clock;
        // It is made again at once, however often it fails.
        line.recovery.works();
        line.recovery.fails(clock);
        broken = true;
    }

    /** Begins to make failed connections again. Not called inside the queue's poll. */
    public void mend(long clock) {
        if (broken) {
            broken = false;
            tick(clock);
        }
    }

    public static boolean isReconnect(long tag) {
        return tag < 0;
    }

    /** A reconnect has ended. */
    public void reconnected(long tag, int outcome, long clock) {
        CodedConnection line = lines.getPlain((int) (tag & ~RECONNECT));
        // The queue uses a new connection before it reports the reconnect. Such a connection may have failed since. If
        // that failure has been polled, broke found the connection unconnected and did nothing: the queue does not
        // report it as connected, so it is made again, and stays unfenced until then. If the failure has not been
        // polled, both the queue and this class take it for connected, and broke follows with the failed operations.
        boolean connected = outcome == Outcome.DONE && queue.connected(line.server);
        line.recovery.ended(connected, clock);
        if (connected) {
            // The earlier connection was fenced first.
            line.unfenced = false;
            line.connected = true;
        } else {
            space.lost(line.server);
        }
    }

    /**
     * Looks for lost servers, ends connections that are to be fenced, and retries servers that could not be reached.
     */
    public void tick(long clock) {
        AtomicReferenceArray<CodedConnection> all = lines;
        for (int i = 0; i < all.length(); i++) {
            CodedConnection line = all.getPlain(i);
            if (line == null) {
                continue;
            }
            if (gone(line)) {
                line.connected = false;
                space.lost(line.server);
            } else if (line.connected && line.fenceWanted) {
                begin(line, clock);
            } else if (line.recovery.begins(clock)) {
                queue.reconnect(line.server, RECONNECT | line.server.index());
            }
        }
    }

    /** Whether its server is lost or retired, so that nothing is posted to it any more. */
    private boolean gone(CodedConnection line) {
        return line.server.lost() != null || space.left.contains(line.server);
    }

    /** Whether a connection is to be made again: the one before may still write until the reconnect has ended. */
    public boolean unsettled() {
        AtomicReferenceArray<CodedConnection> all = lines;
        for (int i = 0; i < all.length(); i++) {
            CodedConnection line = all.getPlain(i);
            if (line != null && !line.connected && !gone(line)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Asks the session to end its outstanding operations to a region, so that the region can be given back. Any thread.
     */
    @Override
    public void wantFence(RemoteRegion region) {
        CodedConnection line = known(region.server());
        if (line != null && queue.isUsing(region)) {
            line.fenceWanted = true;
        }
    }

    @Override
    public boolean isUsing(RemoteRegion region) {
        return queue.isUsing(region);
    }

    @Override
    public CompletableFuture<Void> fence(RemoteServer server) {
        CodedConnection line = known(server);
        if (line != null) {
            line.fenceWanted = true;
        }
        return queue.fence(server);
    }

    private @Nullable CodedConnection known(RemoteServer server) {
        AtomicReferenceArray<CodedConnection> all = lines;
        return server.index() < all.length() ? all.get(server.index()) : null;
    }

    /** Whether something that the session has posted to a server may still take effect there. Any thread. */
    @Override
    public boolean mayWrite(RemoteServer server) {
        CodedConnection line = known(server);
        return (closing || line != null && line.unfenced) && server.lost() == null;
    }

    /**
     * Called before the queue is closed. From then on, until this object is removed from the space's sessions,
     * {@link #mayWrite} holds for every server that has not lost its lease.
     */
    public void beginClosing() {
        closing = true;
    }
}
