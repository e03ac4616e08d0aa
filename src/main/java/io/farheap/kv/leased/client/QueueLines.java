package io.farheap.kv.leased.client;

import io.farheap.remote.contract.Outcome;
import io.farheap.remote.server.LinkRecovery;
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
    private LinkRecovery[] links;
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
        over = new boolean[servers];
        links = new LinkRecovery[servers];
        for (int server = 0; server < servers; server++) {
            links[server] = new LinkRecovery(now);
        }
    }

    /** Servers have joined: there are so many now. */
    void grow(int servers, long now) {
        int before = links.length;
        over = Arrays.copyOf(over, servers);
        links = Arrays.copyOf(links, servers);
        for (int server = before; server < servers; server++) {
            links[server] = new LinkRecovery(now);
        }
    }

    /** The connection to a server has failed. */
    void fails(int server, long now) {
        if (links[server].fails(now)) {
            downs++;
        }
    }

    /** Something was answered over a connection. */
    void works(int server) {
        links[server].works();
    }

    /** Whether all connections stand, as far as is known, but for those to servers that are lost. */
    boolean areUp() {
        return downs == 0;
    }

    boolean isUp(int server) {
        return !links[server].isDown();
    }

    /** Whether a connection is down, and will not be up soon: a busy server may answer one attempt too late. */
    boolean isGone(int server) {
        return links[server].isDown() && (links[server].attempts() >= MOST_ATTEMPTS || space.isLost(server));
    }

    /** Makes connections again that are down, when their back-off has passed. Not in a handler of the queue. */
    void look(long now) {
        for (int server = 0; downs > 0 && server < links.length; server++) {
            if (!links[server].waits() || over[server]) {
                continue;
            }
            if (space.isLost(server)) {
                over[server] = true;
                downs--;
            } else if (links[server].begins(now)) {
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
        if (outcome == Outcome.DONE && links[server].isDown()) {
            downs -= over[server] ? 0 : 1;
            over[server] = false;
        }
        links[server].ended(outcome == Outcome.DONE, now);
        return true;
    }
}
