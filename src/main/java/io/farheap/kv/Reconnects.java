package io.farheap.kv;

import io.farheap.remote.Outcome;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A session's connections that have failed while their servers' leases hold. Each is made again, off the session's
 * thread and with a back-off; its server's end is fenced first, so nothing that was posted on it lands later. One
 * thread.
 */
final class Reconnects {

    /** Of reconnections; others are less. */
    static final long TAG = 1L << 33;

    private static final long FIRST_BACKOFF_NANOS = 5_000_000;
    private static final long MOST_BACKOFF_NANOS = 1_000_000_000;
    /** A connection that has lasted for so long was a good one. */
    private static final long GOOD_NANOS = 1_000_000_000;

    /** The connection to one server. */
    private static final class Line {

        private final RemoteServer server;
        private boolean down;
        private boolean repairing;
        /** Whether the last attempt found no server. */
        private boolean unreachable;
        /** When it was connected last. */
        private long since = System.nanoTime() - GOOD_NANOS;

        /** How often in succession it failed before any request made progress over it. */
        private int inVain;

        private long retryAt;
        private long backoff = FIRST_BACKOFF_NANOS;

        Line(RemoteServer server) {
            this.server = server;
        }

        void fails(long now) {
            down = true;
            if (now - since >= GOOD_NANOS) {
                inVain = 0;
            }
            if (inVain++ == 0) {
                backoff = FIRST_BACKOFF_NANOS;
                retryAt = now;
            } else {
                retryAt = later(now);
            }
        }

        private long later(long now) {
            long at = now + backoff;
            backoff = Math.min(2 * backoff, MOST_BACKOFF_NANOS);
            return at;
        }

        void ended(boolean connected, long now) {
            repairing = false;
            down = !connected;
            unreachable = !connected;
            if (connected) {
                since = now;
            } else {
                retryAt = later(now);
            }
        }
    }

    private final RemoteQueue queue;
    /** Passes each server that the session may post to. */
    private final Consumer<Consumer<RemoteServer>> servers;

    private final List<Line> lines = new ArrayList<>();
    /** Lines that are down. */
    private int down;
    /** Whether there is a server whose lease is lost. */
    private boolean gone;
    /** Something has failed since the connections were last looked at. */
    private boolean failed;

    private boolean unproven;
    private int begun;

    Reconnects(RemoteQueue queue, Consumer<Consumer<RemoteServer>> servers) {
        this.queue = queue;
        this.servers = servers;
    }

    /** An operation has ended otherwise than done. */
    void broke() {
        failed = true;
    }

    /** A posting to a server was refused, for want of a connection. */
    void refused(RemoteServer server) {
        if (server.lost() != null) {
            // It is not connected again.
            gone = true;
            return;
        }
        Line line = find(server);
        failed |= line == null || !line.down;
    }

    /** Whether no connection is to be made again, as far as is known; then nothing lands late. */
    boolean up() {
        return !failed && down == 0;
    }

    /** Whether all connections stand, as far as is known. */
    boolean all() {
        return up() && !gone;
    }

    /** Whether something that is posted to a region now has a connection. */
    boolean reaches(RemoteRegion region) {
        return all() || queue.connected(region.server());
    }

    /** Whether a request that has failed may go on soon. */
    boolean hopeful() {
        if (failed) {
            return true;
        }
        for (Line line : lines) {
            if (line.down && !line.unreachable) {
                return true;
            }
        }
        return false;
    }

    /** Begins what is to be done. Not inside the queue's poll. */
    void mend() {
        long now = System.nanoTime();
        if (failed) {
            failed = false;
            gone = false;
            servers.accept(server -> look(server, now));
        }
        down = 0;
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            // A server whose lease is lost is not connected again, and lets nothing land that was posted under it.
            if (line.down && line.server.lost() != null) {
                line.down = false;
                gone = true;
            }
            if (line.down) {
                down++;
                if (!line.repairing && now - line.retryAt >= 0) {
                    reconnect(line, TAG | i);
                }
            }
        }
    }

    private void reconnect(Line line, long tag) {
        boolean[] present = {false};
        servers.accept(server -> present[0] |= server == line.server);
        // Else it has left the map.
        line.down = present[0];
        if (line.down) {
            line.repairing = true;
            begun++;
            queue.reconnect(line.server, tag);
        }
    }

    /** Whether a connection was made again of which it is not known that it works. */
    boolean unproven() {
        return unproven;
    }

    /** A request has made progress. */
    void worked() {
        unproven = false;
        for (Line line : lines) {
            line.inVain = line.down ? line.inVain : 0;
            unproven |= line.inVain > 0;
        }
    }

    /** How often a connection was to be made again. */
    int begun() {
        return begun;
    }

    private void look(RemoteServer server, long now) {
        if (queue.connected(server)) {
            return;
        }
        if (server.lost() != null) {
            gone = true;
            return;
        }
        Line line = find(server);
        if (line == null) {
            line = new Line(server);
            lines.add(line);
        }
        if (!line.down) {
            line.fails(now);
            unproven = true;
        }
    }

    private @Nullable Line find(RemoteServer server) {
        for (Line line : lines) {
            if (line.server == server) {
                return line;
            }
        }
        return null;
    }

    static boolean isOf(long tag) {
        return tag >= TAG;
    }

    /** A reconnection has ended. */
    void ended(long tag, int outcome) {
        lines.get((int) (tag - TAG)).ended(outcome == Outcome.DONE, System.nanoTime());
    }
}
