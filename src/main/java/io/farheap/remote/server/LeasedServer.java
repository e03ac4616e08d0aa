package io.farheap.remote.server;

import io.farheap.connection.Connection;
import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.SignedGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.lease.PendingReleases;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.LeaseListener;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.RingRequest;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.plane.Ticket;
import io.farheap.control.plane.WantedRegions;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A server's lease and control channel, and what is made under that lease: regions, connections, message rings, and
 * copies between servers. It is the only implementation of {@link RemoteServer}.
 */
public final class LeasedServer implements RemoteServer {

    /** How much longer than a lease's duration a batch may stay unanswered while the lease is renewed. */
    private static final long STUCK_NANOS = TimeLimit.of(3_000_000_000L);

    private final String address;
    private final int index;
    private final ControlClient control;
    private final ServerDescription description;
    private final Lease lease;
    private final LeaseCalls calls;
    private final ServerFences ends;
    private final LeaseKeeper keeper;
    private final RegionWarmer warmer;
    /** Regions and allocations whose release the server has not confirmed yet. */
    private final PendingReleases debts;

    private final AtomicLong allocations = new AtomicLong(ControlPlane.ANY_ALLOCATION);
    private volatile boolean closing;
    private volatile boolean abandoned;

    private LeasedServer(
            String address,
            int index,
            ControlClient control,
            ServerDescription description,
            Lease lease,
            long askedAt,
            ProtectionDomain domain,
            BiConsumer<RemoteServer, ControlException> onLost,
            Consumer<CompletableFuture<Void>> closesLater) {
        this.address = address;
        this.index = index;
        this.control = control;
        this.description = description;
        this.lease = lease;
        this.calls = new LeaseCalls(address, lease);
        this.ends = new ServerFences(control, calls, closesLater);
        this.debts = new PendingReleases(control, lease.id(), this::owing);
        this.keeper = control.keep(lease, askedAt, new LeaseListener() {
            @Override
            public void leaseLost(Lease ignored, ControlException cause) {
                lose(cause, onLost);
            }

            @Override
            public void renewed(Lease ignored) {
                debts.offer();
            }
        });
        try {
            this.warmer = new RegionWarmer(domain, this::connect);
        } catch (Throwable e) {
            keeper.close();
            throw e;
        }
    }

    /**
     * Opens a lease on a server.
     *
     * @param address HOST:PORT of its control plane
     * @param index its index among the client's servers
     * @param clientName the client's name, for the server's log
     * @param cacheId of the manager's cache that the lease is for, or {@link ControlPlane#NO_CACHE}
     * @param grant of that manager for this server, or {@link SignedGrant#NONE}
     * @param onLost called once when the lease is lost, on a thread of its own
     * @param closesLater receives a future for each resource of the domain's device that cannot be closed yet, since
     *     the server may be writing to it; the future completes when it is closed
     * @throws ControlException if the server cannot be reached or refuses
     */
    public static LeasedServer attach(
            String address,
            int index,
            ProtectionDomain domain,
            String clientName,
            long cacheId,
            SignedGrant grant,
            BiConsumer<RemoteServer, ControlException> onLost,
            Consumer<CompletableFuture<Void>> closesLater) {
        ControlClient control = ControlClient.share(address);
        try {
            // Not requested again: the control client checks grants against this description.
            ServerDescription description = control.server();
            long askedAt = System.nanoTime();
            Lease lease = control.openLease(clientName, cacheId, grant);
            try {
                return new LeasedServer(
                        address, index, control, description, lease, askedAt, domain, onLost, closesLater);
            } catch (Throwable e) {
                Closeables.after(e, () -> control.closeLease(lease.id()));
                throw e;
            }
        } catch (Throwable e) {
            Closeables.after(e, control);
            throw e;
        }
    }

    /** The same server, as the type that connects to it and copies on it. */
    public static LeasedServer of(RemoteServer server) {
        return (LeasedServer) server;
    }

    @Override
    public String address() {
        return address;
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public ServerDescription description() {
        return description;
    }

    @Override
    public @Nullable ControlException lost() {
        return calls.lost();
    }

    @Override
    public boolean isAbandoned() {
        return abandoned;
    }

    /** The lease is lost, all connections have been failed, and the listener has been told. */
    public void abandon() {
        abandoned = true;
    }

    @Override
    public long heldUntil() {
        // Given up or refused, it may have ended already.
        return closing || lost() != null ? System.nanoTime() - 1 : keeper.heldUntil();
    }

    @Override
    public void doubt() {
        keeper.renewNow();
    }

    @Override
    public void requireHeld() {
        calls.requireHeld();
    }

    /**
     * Handles the loss of the lease. On a thread of its own, since sessions may be long in a callback, and the listener
     * is the application's.
     */
    private void lose(ControlException cause, BiConsumer<RemoteServer, ControlException> onLost) {
        if (closing) {
            return;
        }
        calls.lose(cause);
        debts.close();
        // First, since threads that wait for an answer may hold up the listener.
        control.abandon();
        onLost.accept(this, cause);
    }

    /** Asks for a call at the next renewal, when the server is known to answer, to offer a pending release again. */
    private void owing() {
        keeper.tellNextRenewal();
    }

    /** The server's shared spaces; their calls go through {@link #callWithLease}. */
    public SpacePlane spaces() {
        return control.spaces();
    }

    /** @param call receives the lease's id; the loss of the lease ends it */
    public <T> T callWithLease(LongFunction<T> call) {
        return calls.call(call);
    }

    /** @throws ControlException UNAVAILABLE if the region cannot be reached */
    public void warm(RemoteRegion region) {
        try {
            warmer.warm(region.toString(), region.address(), region.remoteKey());
        } catch (VerbsException e) {
            throw new ControlException(
                    ControlException.Code.UNAVAILABLE,
                    "memory of " + address + " cannot be reached: " + e.getMessage(),
                    e);
        }
    }

    @Override
    public void showGrant(SignedGrant grant) {
        calls.run(id -> control.showGrant(id, grant));
    }

    @Override
    public List<RemoteRegion> allocate(int regions) {
        long allocation = allocations.incrementAndGet();
        List<RemoteRegion> allocated = new ArrayList<>(regions);
        for (RegionGrant grant : grant(regions, allocation)) {
            allocated.add(new RemoteRegion(this, index, grant, allocation));
        }
        try {
            allocated.forEach(this::warm);
            return allocated;
        } catch (Throwable e) {
            debts.abandon(allocation);
            throw e;
        }
    }

    private List<RegionGrant> grant(int regions, long allocation) {
        try {
            return calls.call(id -> control.allocate(id, regions, allocation));
        } catch (Throwable e) {
            // Whatever failed, the server may have granted the regions, or may be about to.
            if (calls.lost() == null) {
                debts.abandon(allocation);
            }
            throw e;
        }
    }

    @Override
    public void releaseQuietly(RemoteRegion region) {
        if (calls.lost() == null) {
            debts.release(region.regionId(), region.allocationId());
        }
    }

    /**
     * Connects a session or a queue to the server.
     *
     * @param number identifies the connection among those of the completion queue
     */
    public ServerConnection connect(
            ProtectionDomain domain,
            CompletionQueue completions,
            int number,
            int depth,
            int inlineBytes,
            int listLimit) {
        return connect(Connection.create(domain, completions, number, depth, inlineBytes, listLimit));
    }

    ServerConnection connect(Connection connection) {
        try {
            ConnectedQueuePair connected = calls.call(id -> control.connect(id, connection.endpoint()));
            try {
                connection.connect(connected.server());
                return new ServerConnection(ends, connection, connected.connectionId());
            } catch (Throwable e) {
                ends.disconnect(connected.connectionId());
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
     * @param channel the channel on which the client's end raises events
     * @param threads over how many of its threads the server spreads this client's rings
     */
    public ServerRing connectRing(
            Context context, CompletionChannel channel, RingShape shape, int threads, int inlineBytes) {
        BatchConnection connection = new BatchConnection(context, channel, shape, inlineBytes);
        try {
            connection.giveUpAfter(lease.durationNanos() + STUCK_NANOS);
            RingRequest request = new RingRequest(
                    connection.endpoint(),
                    shape.queueDepth(),
                    shape.batch(),
                    shape.recordBytes(),
                    shape.calls(),
                    threads,
                    connection.responseAddress(),
                    connection.responseKey());
            ConnectedRing connected = calls.call(id -> control.connectRing(id, request));
            try {
                connection.connect(connected.server(), connected.ringAddress(), connected.ringKey());
                return new ServerRing(ends, connection, connected.connectionId());
            } catch (Throwable e) {
                ends.disconnect(connected.connectionId());
                throw e;
            }
        } catch (Throwable e) {
            connection.close();
            throw e;
        }
    }

    /** The fences that destroy the server's ends of connections. */
    public ServerFences ends() {
        return ends;
    }

    @Override
    public void fenceForgotten() {
        ends.fenceForgotten();
    }

    /**
     * Closes a resource that the server may be in the middle of writing to, without waiting for that.
     *
     * @return completes when the resource is closed
     */
    public CompletableFuture<Void> closeLate(AutoCloseable resource) {
        return ends.closeLate(resource);
    }

    /**
     * Reports to the server how much the regions are used that could be given back.
     *
     * @return the regions that it wants back, and when to report again
     */
    public WantedRegions reportUse(List<RegionUse> uses) {
        return calls.call(id -> control.reportUse(id, uses));
    }

    /** Allows another server to read a region for a while. */
    public Ticket export(RemoteRegion region) {
        return calls.call(id -> control.export(id, region.regionId()));
    }

    /** Prepares a pull. Takes as long as this server waits for the source. */
    public WatermarkEndpoint preparePull(RemoteRegion into, RemoteServer source, Ticket ticket, PullPace pace) {
        return control.preparePull(lease.id(), into.regionId(), source.address(), ticket.token(), pace);
    }

    /** Prepares a rebuild. Takes as long as this server waits for the sources. */
    public WatermarkEndpoint prepareRebuild(RemoteRegion into, RebuildPlan plan, PullPace pace) {
        return control.prepareRebuild(lease.id(), into.regionId(), plan, pace);
    }

    /**
     * Fills a region as prepared, or copies a region from another server into one of this server's; returns when the
     * copy is complete.
     */
    public PullResult pull(RemoteRegion into, RemoteServer source, Ticket ticket) {
        return control.pull(lease.id(), into.regionId(), source.address(), ticket.token());
    }

    @Override
    public void close() {
        // The keeper runs meanwhile, so that the loss of the lease ends calls that wait for an answer. Its close waits
        // a while for the work that the loss has started: the application's listener, which may be what closes this.
        Closeables.all(warmer, this::closeLease, keeper, debts, control);
    }

    private void closeLease() {
        closing = true;
        try {
            calls.requireAnswering();
            calls.run(control::closeLease);
        } catch (ControlException e) {
            // A server that does not answer takes everything back when the lease expires.
        }
    }

    @Override
    public String toString() {
        return address;
    }
}
