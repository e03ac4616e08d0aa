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
 * The connection that the clients of one memory server share within a process: a {@link GrpcChannel} and the thread
 * that renews their leases. It is made for the first client and closed by the last. Thread-safe.
 *
 * <p>Servers are distinguished by the address to which their name resolves when a client connects: if a name has moved
 * to another machine, new clients reach that machine, and clients of the old address stay there.
 */
final class SharedServerChannel {

    /**
     * By address, the oldest first. Its lock also guards users and keepers, and no thread waits for anything while it
     * holds the lock.
     */
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
     * Makes the caller a user, which must {@link #release} it once.
     *
     * <p>A {@linkplain GrpcChannel#silent silent} channel gets no new users: its machine may be gone without closing
     * the connection, and the server may be back while TCP has not given the old connection up yet. A new client
     * connects again and so reaches the server that is there now.
     *
     * @param what names the server in messages
     * @throws ControlException UNAVAILABLE if the host has no address, or none of several can be connected to
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

    /** The thread that renews the leases of all users. To be called by a user. */
    LeaseRenewalThread keeper() {
        synchronized (LINKS) {
            if (keeper == null) {
                keeper = new LeaseRenewalThread();
            }
            return keeper;
        }
    }

    /** Ends the caller's use. The last user's call ends the threads and the connection, and waits for that. */
    void release() {
        LeaseRenewalThread ended;
        synchronized (LINKS) {
            if (--users > 0) {
                return;
            }
            ended = keeper;
            // No client joins it from here on: a new client gets another one, and does not wait for the end of this
            // one.
            LINKS.computeIfPresent(address, (_, links) -> links.remove(this) && links.isEmpty() ? null : links);
        }
        Closeables.all(ended, channel);
    }
}
