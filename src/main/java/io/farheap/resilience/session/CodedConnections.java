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
 * A session's connections: which fail, are fenced, and are made again in the background, while the session goes on with
 * other servers. The session's thread, but for {@link #mayWrite}.
 */
public final class CodedConnections implements FenceStatus {

    /** Tags of reconnects; parts have positive ones. */
    private static final long RECONNECT = Long.MIN_VALUE;

    private static final int FIRST_ROOM = 16;
    private static final long FIRST_BACKOFF_NANOS = 5_000_000;
    private static final long MOST_BACKOFF_NANOS = 1_000_000_000;

    private final SpaceState space;
    private final RemoteQueue queue;
    /** A connection has failed, and nothing is done about it yet. */
    private boolean broken;
    /** The queue is being closed: it uses nothing any more, and its queue pairs may still write. */
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
        CodedConnection line = new CodedConnection(server, space.record(server), queue.connected(server));
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
     * So many random good slabs of a range that may be asked now, a bit each; all of them where there are fewer.
     *
     * @param last slabs that are chosen where there are fewer than {@code least} others
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

    /** An operation ended in error, or was refused. */
    public void broke(RemoteServer server, long clock) {
        CodedConnection line = of(server);
        if (line.connected) {
            // What was ended for the sake of its memory is no failure of the server's.
            if (!line.fenceWanted) {
                line.record.countFailure(System.nanoTime());
                server.doubt();
            }
            begin(line, clock);
        }
    }

    /** Ends a connection for what is late on it: no failure of the server's. It is made anew. */
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
        line.unreachable = false;
        line.backoff = FIRST_BACKOFF_NANOS;
        line.since = clock;
        line.retryAt = clock;
        broken = true;
    }

    /** Begins to make anew what has failed. Not inside the queue's poll. */
    public void mend(long clock) {
        if (broken) {
            broken = false;
            tick(clock);
        }
    }

    private void reconnect(CodedConnection line) {
        if (space.lost(line.server)) {
            line.unreachable = true;
            line.repairing = false;
            return;
        }
        line.repairing = true;
        queue.reconnect(line.server, RECONNECT | line.server.index());
    }

    public static boolean isReconnect(long tag) {
        return tag < 0;
    }

    /** A reconnect has ended. */
    public void reconnected(long tag, int outcome, long clock) {
        CodedConnection line = lines.getPlain((int) (tag & ~RECONNECT));
        line.repairing = false;
        line.unreachable = outcome != Outcome.DONE;
        // The queue uses a connection before this tells of it. Where it has failed since, and that has been polled,
        // broke found the line unconnected and did nothing: it is made again, and not fenced before that. Where that
        // has
        // not been polled, the queue takes it for connected, and so does this: broke comes with what has failed.
        if (outcome == Outcome.DONE && queue.connected(line.server)) {
            // The earlier connection was fenced first.
            line.unfenced = false;
            line.connected = true;
        } else {
            line.retryAt = clock + line.backoff;
            line.backoff = Math.min(2 * line.backoff, MOST_BACKOFF_NANOS);
            space.lost(line.server);
        }
    }

    /** Looks for servers that are lost, and tries again what could not be reached. */
    public void tick(long clock) {
        AtomicReferenceArray<CodedConnection> all = lines;
        for (int i = 0; i < all.length(); i++) {
            CodedConnection line = all.getPlain(i);
            if (line == null) {
                continue;
            }
            if (gone(line)) {
                line.connected = false;
                line.unreachable = true;
                space.lost(line.server);
            } else if (line.connected && line.fenceWanted) {
                begin(line, clock);
            } else if (!line.connected && !line.repairing && clock - line.retryAt >= 0) {
                reconnect(line);
            }
        }
    }

    /** Whether nothing is asked of its server any more. */
    private boolean gone(CodedConnection line) {
        return line.server.lost() != null || space.left.contains(line.server);
    }

    /** Whether a connection is to be made anew: the one before may still write until that has begun, and ended. */
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

    /** Asks the session to end what it has under way to a region, so that it can be given back. Any thread. */
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
     * The queue is to be closed: until that has happened, and this is not among the space's sessions any more, whatever
     * it was connected to may be written.
     */
    public void beginClosing() {
        closing = true;
    }
}
