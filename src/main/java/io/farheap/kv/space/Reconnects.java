package io.farheap.kv.space;

import io.farheap.control.ControlException;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.LinkRecovery;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * A session's connections that have failed while their servers' leases hold. Each is made again, off the session's
 * thread and with a back-off. The server's end is fenced first, so no operation that was posted on the failed
 * connection can take effect later. One thread.
 */
public final class Reconnects {

    /** Tags of reconnections begin here; all others are less. */
    static final long TAG = 1L << 33;

    /** The connection to one server. */
    private static final class ConnectionState {

        private final RemoteServer server;
        private final LinkRecovery link = new LinkRecovery(System.nanoTime());

        /** Requests whose present step has posted something on the connection since it was made again. */
        private final BitSet tried = new BitSet();

        ConnectionState(RemoteServer server) {
            this.server = server;
        }

        void ended(boolean connected, long now) {
            tried.clear();
            link.ended(connected, now);
        }
    }

    private final RemoteQueue queue;
    /** Knows the servers that the session may post to. */
    private final SpaceMemory space;

    private final List<ConnectionState> lines = new ArrayList<>();
    /** Lines that are down. */
    private int down;
    /** Whether a server has lost its lease. It may leave the map; then the layout says so. */
    private boolean gone;

    private RegionDirectory layout;
    /** Something has failed since the connections were last looked at. */
    private boolean failed;

    private boolean unproven;
    private int begun;
    /** Whether another thread is ending all connections, and whether it has: nothing is connected again after that. */
    private volatile boolean cutting;

    private volatile boolean cut;
    /** Whether a server has not answered the thread that ends the connections: it may do so much later. */
    private volatile boolean cutFailed;
    /** Held while a reconnection is asked for: a fence that is asked for later prevents its use. */
    private final Object cutLock = new Object();

    Reconnects(RemoteQueue queue, SpaceMemory space) {
        this.queue = queue;
        this.space = space;
        this.layout = space.layout();
    }

    /** An operation has ended otherwise than done. */
    public void broke() {
        failed = true;
    }

    /** A posting to a server was refused because there is no connection. */
    void refused(RemoteServer server) {
        ConnectionState line = find(server);
        if (server.lost() == null) {
            failed |= line == null || !line.link.isDown();
            return;
        }
        // A server whose lease is lost is not connected again.
        gone = gone || serves(server);
        if (line != null) {
            line.link.giveUp();
        }
    }

    /** Whether no connection waits to be made again, as far as is known; then nothing can take effect late. */
    public boolean up() {
        return !failed && down == 0;
    }

    /** Whether all connections stand, as far as is known, and no server is lost. */
    public boolean all() {
        return up() && !gone;
    }

    /** Whether something that is posted to a region now has a connection. */
    public boolean reaches(RemoteRegion region) {
        return all() || queue.connected(region.server());
    }

    /**
     * Whether all connections have ended for good: the session's thread has not polled for long, or the process uses
     * the map under other leases. No request does anything more. Any thread.
     */
    public boolean isOver() {
        return cut || space.hasEnded();
    }

    /**
     * Whether the process uses the map under other leases by now, and nothing that was posted here can take effect
     * later than what is posted there.
     */
    public boolean isReplaced() {
        return space.isEnding() && up();
    }

    /** As {@link SpaceMemory#isCutOff}. */
    public boolean isCutOff() {
        return space.isCutOff();
    }

    /** Whether all connections end or have ended for good. */
    private boolean isCutting() {
        return cutting || space.isEnding();
    }

    /**
     * Ends all connections for good, and waits for the servers. When it returns, nothing that was posted can take
     * effect any more, and the session's thread posts nothing more. Any thread but that.
     *
     * @throws RuntimeException if a server does not answer; call it again. Requests end as lost from then on, and what
     *     they have posted counts as in flight
     */
    void cut() {
        if (cut) {
            return;
        }
        synchronized (cutLock) {
            cutting = true;
        }
        List<CompletableFuture<Void>> fences = new ArrayList<>();
        space.servers(server -> {
            if (server.lost() == null) {
                fences.add(queue.fence(server));
            }
        });
        try {
            CompletableFuture.allOf(fences.toArray(CompletableFuture[]::new)).join();
        } catch (RuntimeException e) {
            cutFailed = true;
            throw e;
        }
        cut = true;
    }

    /** Whether a request that has failed may continue soon. */
    public boolean hopeful() {
        if (isOver() || cutFailed) {
            return false;
        }
        if (failed || isCutting()) {
            return true;
        }
        for (ConnectionState line : lines) {
            // Unless the last attempt found no server.
            if (line.link.isDown() && line.link.attempts() == 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether a request that has failed may continue: connections are being made again, or all have been by now, while
     * another operation of the request was in flight. Then the next {@link #mend} looks at them once more.
     */
    public boolean mayContinue() {
        if (hopeful()) {
            return true;
        }
        boolean stand = !isOver() && !cutFailed && !gone;
        for (ConnectionState line : lines) {
            stand &= !line.link.isDown();
        }
        failed |= stand;
        return stand;
    }

    /** Whether {@link #mend} must be called. */
    public boolean hasWork() {
        return !up() || (gone || unproven) && layout != space.layout();
    }

    /** Begins to make failed connections again. Not inside the queue's poll. */
    public void mend() {
        if (isOver()) {
            failed = false;
            gone = true;
            down = 0;
            lines.forEach(line -> line.link.giveUp());
            return;
        }
        if (isCutting()) {
            return;
        }
        long now = System.nanoTime();
        RegionDirectory present = space.layout();
        if (failed || layout != present) {
            failed = false;
            gone = false;
            if (layout != present) {
                layout = present;
                giveUpLeft();
            }
            space.servers(server -> look(server, now));
        }
        int waiting = 0;
        for (int i = 0; i < lines.size(); i++) {
            ConnectionState line = lines.get(i);
            // A server whose lease is lost is not connected again; operations that were posted under that lease take no
            // effect any more.
            if (line.link.isDown() && line.server.lost() != null) {
                gone = gone || serves(line.server);
                line.link.giveUp();
            }
            if (line.link.isDown()) {
                waiting++;
                if (line.link.isDue(now)) {
                    reconnect(line, TAG | i, now);
                }
            }
        }
        // Once: another thread may look, and must not see all connections up in between.
        down = waiting;
    }

    private void reconnect(ConnectionState line, long tag, long now) {
        if (!serves(line.server)) {
            line.link.giveUp();
            return;
        }
        synchronized (cutLock) {
            if (!cutting && line.link.begins(now)) {
                begun++;
                queue.reconnect(line.server, tag);
            }
        }
    }

    /** Connections to servers that have left the map need no more proof. */
    private void giveUpLeft() {
        for (ConnectionState line : lines) {
            if (line.link.inVain() > 0 && !serves(line.server)) {
                line.link.works();
            }
        }
    }

    /** Whether a server has not left the map. */
    private boolean serves(RemoteServer server) {
        boolean[] present = {false};
        space.servers(one -> present[0] |= one == server);
        return present[0];
    }

    /** Whether some connection was made again and is not known to work yet. */
    public boolean unproven() {
        return unproven;
    }

    /** While a connection is unproven: a request has posted something to a server. */
    void posted(RemoteServer server, long tag) {
        ConnectionState line = tag < RequestPoster.INDEX_TAG ? find(server) : null;
        if (line != null) {
            line.tried.set((int) (tag & RequestPoster.PLACE_MASK));
        }
    }

    /** A request's step has failed, so it proves no connection. */
    public void failed(int place) {
        for (ConnectionState line : lines) {
            line.tried.clear(place);
        }
    }

    /** A request has made progress, which proves the connections that its step has posted on. */
    public void worked(int place) {
        unproven = false;
        for (ConnectionState line : lines) {
            if (line.tried.get(place) && !line.link.isDown() && queue.connected(line.server)) {
                line.link.works();
            }
            line.tried.clear(place);
            unproven |= line.link.inVain() > 0;
        }
    }

    /** How often in succession the connection to a server has failed before any request made progress over it. */
    public int inVain(RemoteServer server) {
        ConnectionState line = find(server);
        return line == null ? 0 : line.link.inVain();
    }

    /** How often it has begun to make a connection again. */
    public int begun() {
        return begun;
    }

    /** A description of what is wrong with the map's servers, as far as is known; empty if nothing is. */
    public String trouble() {
        StringBuilder said = new StringBuilder();
        space.servers(server -> {
            ControlException cause = server.lost();
            if (cause != null) {
                said.append("; the lease on ")
                        .append(server)
                        .append(" is lost: ")
                        .append(cause.getMessage());
            } else if (!queue.connected(server)) {
                said.append("; there is no connection to ").append(server);
            }
        });
        if (begun > 0) {
            said.append("; connections that had failed were made again, or are to be, ")
                    .append(begun)
                    .append(" times");
        }
        return said.toString();
    }

    private void look(RemoteServer server, long now) {
        if (queue.connected(server)) {
            return;
        }
        ConnectionState line = find(server);
        if (server.lost() != null) {
            gone = true;
            if (line != null) {
                line.link.giveUp();
            }
            return;
        }
        if (line == null) {
            line = new ConnectionState(server);
            lines.add(line);
        }
        if (line.link.fails(now)) {
            unproven = true;
        }
    }

    private @Nullable ConnectionState find(RemoteServer server) {
        for (ConnectionState line : lines) {
            if (line.server == server) {
                return line;
            }
        }
        return null;
    }

    public static boolean isOf(long tag) {
        return tag >= TAG;
    }

    /** A reconnection has ended. */
    public void ended(long tag, int outcome) {
        ConnectionState line = lines.get((int) (tag - TAG));
        boolean connected = outcome == Outcome.DONE;
        line.ended(connected, System.nanoTime());
        // The queue uses a new connection before it reports it. If the connection has failed since, a look may have
        // found the line still down and done nothing, so it is looked at again. If that failure is polled later, broke
        // follows.
        failed |= connected && !queue.connected(line.server);
    }
}
