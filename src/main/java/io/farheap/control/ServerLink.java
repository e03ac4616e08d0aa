package io.farheap.control;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of one memory server have in common within a process: a {@link GrpcChannel} and the thread that
 * renews their leases. It is made for the first of them and closed by the last. Thread-safe.
 *
 * <p>Servers are told apart by the address that their name has when a client comes: where a name has moved to another
 * machine, whoever comes now reaches that one, and who is at the old one stays there.
 */
final class ServerLink {

    /** By address: where the next client of a server joins. Guards users and what was there before. */
    private static final Map<InetSocketAddress, ServerLink> LINKS = new HashMap<>();

    private final InetSocketAddress address;
    private final GrpcChannel channel;
    /** The one in whose place this is, as it was silent; null for none. */
    private final @Nullable ServerLink before;

    private @Nullable KeeperThread keeper;
    private int users;

    private ServerLink(InetSocketAddress address, String threadName, int maxReplyBytes, @Nullable ServerLink before) {
        this.address = address;
        this.before = before;
        channel = new GrpcChannel(address, threadName, maxReplyBytes);
    }

    /**
     * Becomes a user, who must {@link #release} it once.
     *
     * <p>A link that is {@linkplain GrpcChannel#silent silent} is left to those that it has: its machine may be gone
     * without a word, and the server be back on a connection that TCP has not given up yet. A new client connects anew
     * and so learns what is there now.
     *
     * @throws ControlException UNAVAILABLE where the host has no address
     */
    static ServerLink join(HostPort server, String threadName, int maxReplyBytes) {
        InetSocketAddress address = server.resolve();
        synchronized (LINKS) {
            ServerLink link = LINKS.get(address);
            if (link == null || link.channel.silent()) {
                link = new ServerLink(address, threadName, maxReplyBytes, link);
                LINKS.put(address, link);
            }
            link.users++;
            return link;
        }
    }

    GrpcChannel channel() {
        return channel;
    }

    /** The thread that renews the leases of all users. Of a user. */
    KeeperThread keeper() {
        synchronized (LINKS) {
            if (keeper == null) {
                keeper = new KeeperThread();
            }
            return keeper;
        }
    }

    /** The last user's call ends the threads and the connection, and waits for that. */
    void release() {
        KeeperThread ended;
        synchronized (LINKS) {
            if (--users > 0) {
                return;
            }
            ended = keeper;
            if (LINKS.remove(address, this) && before != null && before.users > 0) {
                LINKS.put(address, before);
            }
        }
        // Without the lock: whoever comes now gets a link of his own, and waits for nobody.
        if (ended != null) {
            ended.close();
        }
        channel.close();
    }
}
