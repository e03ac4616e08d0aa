package io.farheap.region;

import io.farheap.connection.BatchConnection;
import io.farheap.connection.Connection;
import io.farheap.connection.RingShape;
import io.farheap.control.Connected;
import io.farheap.control.ConnectedRing;
import io.farheap.control.ControlClient;
import io.farheap.control.ControlException;
import io.farheap.control.ControlPlane;
import io.farheap.control.Lease;
import io.farheap.control.LeaseKeeper;
import io.farheap.control.Mark;
import io.farheap.control.PullPace;
import io.farheap.control.PullResult;
import io.farheap.control.RegionGrant;
import io.farheap.control.RingRequest;
import io.farheap.control.ServerDescription;
import io.farheap.control.Ticket;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * One memory server as a cache sees it: a control channel, a lease that is kept alive, and the regions granted under it. Any
 * thread may call; the cache closes it after its connections, which gives everything back.
 */
public final class RemoteServer implements AutoCloseable {

    private final String address;
    private final int index;
    private final ControlClient control;
    private final ServerDescription description;
    private final Lease lease;
    private final LeaseKeeper keeper;
    private final RegionWarmer warmer;
    private final Set<Long> forgotten = ConcurrentHashMap.newKeySet();
    private volatile ControlException lost;

    private RemoteServer(String address, int index, ControlClient control, ServerDescription description, Lease lease,
                         ProtectionDomain domain, BiConsumer<RemoteServer, ControlException> onLost) {
        this.address = address;
        this.index = index;
        this.control = control;
        this.description = description;
        this.lease = lease;
        this.keeper = new LeaseKeeper(control, lease, (ignored, cause) -> {
            lost = cause;
            onLost.accept(this, cause);
        });
        try {
            this.warmer = new RegionWarmer(domain, this);
        } catch (Throwable e) {
            keeper.close();
            throw e;
        }
    }

    /**
     * Opens a lease on a server.
     *
     * @param address    HOST:PORT of its control plane
     * @param index      its place among the cache's servers
     * @param clientName for the server's log
     * @param onLost     told once, on the lease keeper's thread, when the lease is lost
     * @throws ControlException where the server cannot be reached or refuses
     */
    public static RemoteServer attach(String address, int index, ProtectionDomain domain, String clientName,
                                      BiConsumer<RemoteServer, ControlException> onLost) {
        ControlClient control = ControlClient.connect(address);
        try {
            ServerDescription description = control.hello(ControlPlane.PROTOCOL_VERSION);
            Lease lease = control.openLease(clientName);
            try {
                return new RemoteServer(address, index, control, description, lease, domain, onLost);
            } catch (Throwable e) {
                control.closeLease(lease.id());
                throw e;
            }
        } catch (Throwable e) {
            control.close();
            throw e;
        }
    }

    /** HOST:PORT of its control plane. */
    public String address() {
        return address;
    }

    public int index() {
        return index;
    }

    /** As it was when the lease was opened. */
    public ServerDescription description() {
        return description;
    }

    /** Why the lease was lost, or null while it holds. */
    public ControlException lost() {
        return lost;
    }

    /** Grants regions, all or nothing, and maps them so that a first operation costs what any other does. */
    public List<RemoteRegion> allocate(int regions) {
        List<RemoteRegion> allocated = new ArrayList<>(regions);
        for (RegionGrant grant : control.allocate(lease.id(), regions)) {
            allocated.add(new RemoteRegion(this, index, grant.regionId(), grant.remoteAddress(), grant.rkey()));
        }
        try {
            for (RemoteRegion region : allocated) {
                warmer.warm(region);
            }
            return allocated;
        } catch (VerbsException e) {
            releaseAll(allocated);
            throw new ControlException(ControlException.Code.UNAVAILABLE, "memory of " + address + " cannot be reached: " + e.getMessage(), e);
        } catch (Throwable e) {
            releaseAll(allocated);
            throw e;
        }
    }

    private void releaseAll(List<RemoteRegion> regions) {
        for (RemoteRegion region : regions) {
            releaseQuietly(region);
        }
    }

    /** Gives a region back, where its server still answers; its lease ends it otherwise. */
    public void releaseQuietly(RemoteRegion region) {
        try {
            control.release(lease.id(), region.regionId());
        } catch (ControlException e) {
            // Gone with the server or with the lease.
        }
    }

    /** Connects a session to the server. @param number identifies the connection among those of the completion queue */
    public ServerConnection connect(ProtectionDomain domain, CompletionQueue completions, int number, int depth, int inlineBytes, int listLimit) {
        return connect(Connection.create(domain, completions, number, depth, inlineBytes, listLimit));
    }

    ServerConnection connect(Connection connection) {
        try {
            Connected connected = control.connect(lease.id(), connection.endpoint());
            try {
                connection.connect(connected.server());
                return new ServerConnection(this, connection, connected.connectionId());
            } catch (Throwable e) {
                disconnect(connected.connectionId());
                throw e;
            }
        } catch (Throwable e) {
            connection.close();
            throw e;
        }
    }

    /**
     * Connects a pair of message rings.
     *
     * @param channel on which the client's end raises events
     * @param threads over how many of its threads the server is to spread this client's rings
     */
    public ServerRing connectRing(Context context, CompletionChannel channel, RingShape shape, int threads, int inlineBytes) {
        BatchConnection connection = BatchConnection.create(context, channel, shape, inlineBytes);
        try {
            ConnectedRing connected = control.connectRing(lease.id(), new RingRequest(connection.endpoint(), shape.queueDepth(),
                shape.batch(), threads, connection.responseAddress(), connection.responseKey()));
            try {
                connection.connect(connected.server(), connected.ringAddress(), connected.ringKey());
                return new ServerRing(this, connection, connected.connectionId());
            } catch (Throwable e) {
                disconnect(connected.connectionId());
                throw e;
            }
        } catch (Throwable e) {
            connection.close();
            throw e;
        }
    }

    /** The fence: when it returns, nothing that was posted through the connection takes effect any more. */
    void disconnect(long connectionId) {
        try {
            control.disconnect(lease.id(), connectionId);
        } catch (ControlException e) {
            if (e.code() != ControlException.Code.LEASE_EXPIRED) {
                throw e;
            }
        }
    }

    /** A connection that ended while the server did not answer: its end may still be there. */
    void forgotten(long connectionId) {
        forgotten.add(connectionId);
    }

    /** Fences the connections that ended without it. */
    void fenceForgotten() {
        for (Long connectionId : forgotten) {
            disconnect(connectionId);
            forgotten.remove(connectionId);
        }
    }

    Ticket export(RemoteRegion region) {
        return control.export(lease.id(), region.regionId());
    }

    Mark preparePull(RemoteRegion into, RemoteServer source, Ticket ticket, PullPace pace) {
        return control.preparePull(lease.id(), into.regionId(), source.address, ticket.token(), pace);
    }

    PullResult pull(RemoteRegion into, RemoteServer source, Ticket ticket) {
        return control.pull(lease.id(), into.regionId(), source.address, ticket.token());
    }

    @Override
    public void close() {
        keeper.close();
        warmer.close();
        try {
            control.closeLease(lease.id());
        } catch (ControlException e) {
            // A server that does not answer takes everything back when the lease ends.
        }
        control.close();
    }

    @Override
    public String toString() {
        return address;
    }
}
