package io.farheap.control.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.lease.LeaseRenewalThread;
import io.farheap.control.plane.HostPort;
import io.farheap.lifetime.Closeables;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of one memory server have in common within a process: a {@link GrpcChannel} and the thread that
 * renews their leases. It is made for the first of them and closed by the last. Thread-safe.
 *
 * <p>Servers are told apart by the address that their name has when a client comes: where a name has moved to another
 * machine, whoever comes now reaches that one, and who is at the old one stays there.
 */
final class SharedServerChannel {

    /** By address, the oldest first. Its lock guards users and keepers too, and nobody waits for anything with it. */
    private static final Map<InetSocketAddress, List<SharedServerChannel>> LINKS = new HashMap<>();

    private final InetSocketAddress address;
    private final GrpcChannel channel;
    private @Nullable LeaseRenewalThread keeper;
    private int users;

    private SharedServerChannel(InetSocketAddress address, String threadName, int maxReplyBytes) {
        this.address = address;
        channel = new GrpcChannel(address, threadName, maxReplyBytes);
    }

    /**
     * Becomes a user, who must {@link #release} it once.
     *
     * <p>A link that is {@linkplain GrpcChannel#silent silent} is left to those that it has: its machine may be gone
     * without a word, and the server be back on a connection that TCP has not given up yet. A new client connects anew
     * and so learns what is there now.
     *
     * @param what the server is, for messages
     * @throws ControlException UNAVAILABLE where the host has no address, or none of several can be connected to
     */
    static SharedServerChannel join(String what, HostPort server, String threadName, int maxReplyBytes) {
        InetSocketAddress address = server.reach(what);
        synchronized (LINKS) {
            for (SharedServerChannel link : LINKS.getOrDefault(address, List.of())) {
                if (!link.channel.silent()) {
                    link.users++;
                    return link;
                }
            }
            SharedServerChannel link = new SharedServerChannel(address, threadName, maxReplyBytes);
            LINKS.computeIfAbsent(address, _ -> new ArrayList<>(1)).add(link);
            link.users = 1;
            return link;
        }
    }

    GrpcChannel channel() {
        return channel;
    }

    /** The thread that renews the leases of all users. Of a user. */
    LeaseRenewalThread keeper() {
        synchronized (LINKS) {
            if (keeper == null) {
                keeper = new LeaseRenewalThread();
            }
            return keeper;
        }
    }

    /** The last user's call ends the threads and the connection, and waits for that. */
    void release() {
        LeaseRenewalThread ended;
        synchronized (LINKS) {
            if (--users > 0) {
                return;
            }
            ended = keeper;
            // Nobody joins it from here on: who comes now gets another, and does not wait for this one's end.
            LINKS.computeIfPresent(address, (_, links) -> links.remove(this) && links.isEmpty() ? null : links);
        }
        Closeables.all(ended, channel);
    }
}
