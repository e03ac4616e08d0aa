package io.farheap.server;

import io.farheap.control.Connected;
import io.farheap.control.ConnectedRing;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.RingRequest;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.VerbsException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Everything that one client holds. Thread-safe; {@link #renew} never waits for the other methods. */
final class ClientLease {

    private static final System.Logger LOG = System.getLogger(ClientLease.class.getName());
    private static final int MAX_CONNECTIONS = 1024;

    private final long id;
    private final String clientName;
    private final long durationNanos;
    private final RegionPool pool;
    private final CompletionQueue completions;
    private final ProtectionDomain domain;
    private final Map<Long, QueuePair> connections = new HashMap<>();
    private final ClientRings rings;
    private final RegionHolders holders;
    private final ServerThreads threads;
    private final Map<Integer, Grant> grants = new HashMap<>();
    private volatile long renewedAt = System.nanoTime();
    private volatile boolean closed;

    /** @param completions of queue pairs that post nothing, so it stays empty */
    ClientLease(long id, String clientName, long durationNanos, RegionPool pool, Context context, CompletionQueue completions,
                RegionHolders holders, ServerThreads threads) {
        this.id = id;
        this.clientName = clientName;
        this.durationNanos = durationNanos;
        this.pool = pool;
        this.completions = completions;
        this.holders = holders;
        this.threads = threads;
        this.domain = context.allocateProtectionDomain();
        this.rings = new ClientRings(this, context, domain, pool, holders, threads);
    }

    long id() {
        return id;
    }

    String clientName() {
        return clientName;
    }

    void renew() {
        requireOpen();
        renewedAt = System.nanoTime();
    }

    boolean expired() {
        return System.nanoTime() - renewedAt > durationNanos;
    }

    synchronized Connected connect(long connectionId, Endpoint client) {
        requireOpen();
        if (connections.size() == MAX_CONNECTIONS) {
            throw new ControlException(Code.INVALID_ARGUMENT, "the lease has " + MAX_CONNECTIONS
                + " connections, which is the most; disconnect one, or open another lease");
        }
        QueuePair queuePair = domain.createQueuePair(completions, 1, 0);
        try {
            queuePair.connect(client);
        } catch (VerbsException e) {
            queuePair.close();
            throw new ControlException(Code.INVALID_ARGUMENT, e.getMessage(), e);
        }
        connections.put(connectionId, queuePair);
        return new Connected(connectionId, queuePair.endpoint());
    }

    synchronized ConnectedRing connectRing(long connectionId, RingRequest request) {
        requireOpen();
        return rings.connect(connectionId, request);
    }

    synchronized void disconnect(long connectionId) {
        rings.disconnect(connectionId);
        QueuePair queuePair = connections.get(connectionId);
        if (queuePair != null) {
            queuePair.close();
            connections.remove(connectionId);
        }
    }

    synchronized List<RegionGrant> allocate(int regions) {
        requireOpen();
        if (regions < 1) {
            throw new ControlException(Code.INVALID_ARGUMENT, regions + " regions asked for; ask for at least 1");
        }
        int rights = Access.LOCAL_WRITE | domain.context().limits().remoteAccess();
        int[] ids = pool.take(regions);
        List<Grant> granted = new ArrayList<>();
        try {
            for (int regionId : ids) {
                granted.add(new Grant(this, regionId, domain.register(pool.segment(regionId), rights)));
            }
        } catch (Throwable e) {
            for (Grant grant : granted) {
                grant.registration.close();
            }
            for (int regionId : ids) {
                pool.giveBack(regionId);
            }
            throw e;
        }
        for (Grant grant : granted) {
            grants.put(grant.regionId, grant);
            holders.hold(grant.regionId, id);
        }
        return granted.stream().map(Grant::described).toList();
    }

    void release(int regionId) {
        synchronized (this) {
            Grant grant = grant(regionId);
            grants.remove(regionId);
            if (!fence(grant)) {
                throw new ControlException(Code.INTERNAL, "the device did not let go of region " + regionId + "; it is withdrawn");
            }
        }
        pool.giveBack(regionId);
    }

    synchronized ExportTicket export(int regionId, ExportTickets tickets) {
        Grant grant = grant(regionId);
        if (grant.ticket != null) {
            grant.ticket.revoke();
        }
        grant.ticket = tickets.issue(grant);
        return grant.ticket;
    }

    synchronized SourcePull openPull(Grant grant, long pullId, Context context, Endpoint puller) {
        if (closed || grants.get(grant.regionId) != grant) {
            throw new ControlException(Code.TICKET_REFUSED, "the exported region was given back");
        }
        if (grant.source != null) {
            grant.source.close();
            grant.source = null;
        }
        grant.source = new SourcePull(pullId, context, completions, pool.segment(grant.regionId), puller);
        return grant.source;
    }

    synchronized void closePull(Grant grant, long pullId) {
        if (grant.source != null && grant.source.id() == pullId) {
            grant.source.close();
            grant.source = null;
        }
    }

    /** Fails where the lease does not hold the region. */
    synchronized void requireHolds(int regionId) {
        grant(regionId);
    }

    /** Keeps a pull until it is taken or the region is given back; another one that was kept is abandoned. */
    synchronized void keep(int regionId, PreparedPull pull) {
        Grant grant = grant(regionId);
        if (grant.prepared != null) {
            grant.prepared.abandon();
        }
        grant.prepared = pull;
    }

    /** The kept pull, where it is for that export; null otherwise. It is the caller's then. */
    synchronized PreparedPull take(int regionId, String sourceAddress, byte[] token) {
        Grant grant = grant(regionId);
        PreparedPull pull = grant.prepared;
        if (pull == null || !pull.isFor(sourceAddress, token)) {
            return null;
        }
        grant.prepared = null;
        return pull;
    }

    /** From here on to {@link #detach}, giving the region back stops the copy first. The copy must be closed before it is detached. */
    synchronized Grant attach(int regionId, RegionCopy copy) {
        Grant grant = grant(regionId);
        if (grant.copy != null) {
            throw new ControlException(Code.INVALID_ARGUMENT, "region " + regionId + " is being filled by another pull");
        }
        grant.copy = copy;
        return grant;
    }

    synchronized void detach(Grant grant) {
        grant.copy = null;
    }

    /**
     * Fences the client, and frees everything.
     *
     * @param forOthers whether the regions are to be granted again, zeroed; false where the server stops
     */
    void close(boolean forOthers) {
        List<Integer> regions = new ArrayList<>();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            boolean fenced = quietly(rings, "message rings");
            for (QueuePair queuePair : connections.values()) {
                fenced &= quietly(queuePair, "a queue pair");
            }
            connections.clear();
            for (Grant grant : grants.values()) {
                if (fence(grant) && fenced) {
                    regions.add(grant.regionId);
                }
            }
            grants.clear();
            quietly(domain, "a protection domain");
        }
        if (forOthers) {
            regions.forEach(pool::giveBack);
        }
    }

    /** Whether nothing can reach the region any more. */
    private boolean fence(Grant grant) {
        holders.clear(grant.regionId);
        threads.barrier();
        return quietly(grant::cutOff, "what reads or fills region " + grant.regionId)
            & quietly(grant.registration, "the registration of region " + grant.regionId);
    }

    private boolean quietly(AutoCloseable resource, String what) {
        try {
            resource.close();
            return true;
        } catch (Exception e) {
            LOG.log(System.Logger.Level.ERROR, "cannot close " + what + " of client " + clientName
                + "; the regions it reaches are withdrawn", e);
            return false;
        }
    }

    private Grant grant(int regionId) {
        requireOpen();
        Grant grant = grants.get(regionId);
        if (grant == null) {
            throw new ControlException(Code.NOT_FOUND, "the lease does not hold region " + Integer.toUnsignedString(regionId));
        }
        return grant;
    }

    private void requireOpen() {
        if (closed) {
            throw Leases.expired();
        }
    }
}
