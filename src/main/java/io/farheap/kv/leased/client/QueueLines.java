package io.farheap.kv.leased.client;

import io.farheap.kv.space.ReconnectBackoff;
import io.farheap.remote.contract.Outcome;
import java.util.Arrays;

/**
 * The connections of one queue to a map's servers. One that has failed is made again, off the session's thread and with
 * a back-off; the server's end is fenced before, so nothing that was posted takes effect later. The session's thread.
 */
final class QueueLines {

    /** Tags of connections begin here; all others are less. */
    private static final long TAG = 1L << 40;
    /** After so many attempts that have failed, requests do not wait for another one. */
    private static final int MOST_ATTEMPTS = 2;

    private final LeasedSpace space;
    private final LineMaker maker;
    private boolean[] down;
    private boolean[] connecting;
    /** How many attempts to make the connection again have failed, one after another. */
    private int[] attempts;

    private ReconnectBackoff[] backoff;
    private boolean[] over;
    /** Connections that are down, without those to servers that are lost. */
    private int downs;

    /** Makes a connection again. */
    interface LineMaker {
        void reconnect(int server, long tag);
    }

    QueueLines(LeasedSpace space, LineMaker maker, long now) {
        this.space = space;
        this.maker = maker;
        int servers = space.servers();
        down = new boolean[servers];
        connecting = new boolean[servers];
        attempts = new int[servers];
        over = new boolean[servers];
        backoff = new ReconnectBackoff[servers];
        for (int server = 0; server < backoff.length; server++) {
            backoff[server] = new ReconnectBackoff(now);
        }
    }

    /** Servers have joined: there are so many now. */
    void grow(int servers, long now) {
        int before = down.length;
        down = Arrays.copyOf(down, servers);
        connecting = Arrays.copyOf(connecting, servers);
        attempts = Arrays.copyOf(attempts, servers);
        over = Arrays.copyOf(over, servers);
        backoff = Arrays.copyOf(backoff, servers);
        for (int server = before; server < servers; server++) {
            backoff[server] = new ReconnectBackoff(now);
        }
    }

    /** The connection to a server has failed. */
    void fails(int server, long now) {
        if (!down[server]) {
            down[server] = true;
            downs++;
            backoff[server].fails(now);
        }
    }

    /** Something was answered over a connection. */
    void works(int server) {
        backoff[server].works();
    }

    /** Whether all connections stand, as far as is known, but for those to servers that are lost. */
    boolean areUp() {
        return downs == 0;
    }

    boolean isUp(int server) {
        return !down[server];
    }

    /** Whether a connection is down, and will not be up soon: a busy server may answer one attempt too late. */
    boolean isGone(int server) {
        return down[server] && (attempts[server] >= MOST_ATTEMPTS || space.isLost(server));
    }

    /** Makes connections again that are down, when their back-off has passed. Not in a handler of the queue. */
    void look(long now) {
        for (int server = 0; downs > 0 && server < down.length; server++) {
            if (!down[server] || over[server] || connecting[server]) {
                continue;
            }
            if (space.isLost(server)) {
                over[server] = true;
                downs--;
            } else if (backoff[server].due(now)) {
                connecting[server] = true;
                maker.reconnect(server, TAG + server);
            }
        }
    }

    /** Whether a tag is a connection's; then its outcome is noted. */
    boolean ended(long tag, int outcome, long now) {
        if (tag < TAG) {
            return false;
        }
        int server = (int) (tag - TAG);
        connecting[server] = false;
        attempts[server] = outcome == Outcome.DONE ? 0 : attempts[server] + 1;
        if (outcome == Outcome.DONE && down[server]) {
            down[server] = false;
            downs -= over[server] ? 0 : 1;
            over[server] = false;
        }
        backoff[server].ended(outcome == Outcome.DONE, now);
        return true;
    }
}
