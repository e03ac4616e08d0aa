package io.farheap.server.lease;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerStatus.LeaseStatus;
import io.farheap.control.plane.Caller;
import io.farheap.control.plane.ControlPlane;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.budget.Borrower;
import io.farheap.server.budget.Budget;
import io.farheap.server.budget.Budgets;
import io.farheap.server.fence.FailPoint;
import io.farheap.server.fence.Fence;
import io.farheap.server.fence.RetiredResources;
import io.farheap.server.pool.RegionPool;
import io.farheap.server.pull.ExportTicket;
import io.farheap.server.pull.ExportTickets;
import io.farheap.server.pull.PreparedPull;
import io.farheap.server.pull.RegionExport;
import io.farheap.server.pull.RegionFill;
import io.farheap.server.thread.ServerThreads;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All resources that one client holds. Thread-safe; {@link #renew} never waits for the other methods.
 *
 * <p>The lock guards the set of resources. Closing a resource waits for the device, which may be busy with it for as
 * long as a client is stopped; so a resource is closed without the lock, and {@link RetiredResources} tries again.
 * Every resource may therefore be closed twice, and by two threads.
 */
public final class ClientLease {

    private final Borrower client;
    private final long cacheId;
    private final long durationNanos;
    private final RegionPool pool;
    private final CompletionQueue completions;
    private final ProtectionDomain domain;
    private final Budget.Loan loan;
    private final ClientConnections connections;
    private final SpaceOpenings spaces;
    private final RegionHolders holders;
    private final HeldRegions held;
    private final ServerThreads threads;
    private final RetiredResources retired;
    private final Int2ObjectHashMap<LeasedRegion> grants = new Int2ObjectHashMap<>();
    /** Regions that were released while the device is still busy with them. */
    private final Set<LeasedRegion> leaving = new HashSet<>();

    private final AtomicBoolean ending = new AtomicBoolean();
    private final AtomicBoolean expiringPulls = new AtomicBoolean();
    /** Time at which the oldest prepared pull was kept; 0 for none. Written with the lock held, read without it. */
    private volatile long pullsSince;

    /** Null until the lease begins to end. */
    private @Nullable Fence fence;

    private List<Integer> fenced = List.of();

    private final AbandonedAllocations abandoned = new AbandonedAllocations();
    private volatile long renewedAt = System.nanoTime();
    private volatile boolean closed;
    public final FailPoint fault = new FailPoint();

    /**
     * @param caller the caller that the lease is for, or null if it is in this process
     * @param completions of queue pairs that post nothing, so it stays empty
     * @throws ControlException INVALID_ARGUMENT if the server lends no more leases
     */
    public ClientLease(
            long id,
            String clientName,
            long cacheId,
            @Nullable Caller caller,
            long durationNanos,
            RegionPool pool,
            Context context,
            CompletionQueue completions,
            RegionHolders holders,
            RpcHandlers handlers,
            ServerThreads threads,
            Budgets budgets,
            RetiredResources retired) {
        this.client = new Borrower(id, clientName, caller, budgets);
        this.cacheId = cacheId;
        this.durationNanos = durationNanos;
        this.pool = pool;
        this.completions = completions;
        this.holders = holders;
        this.threads = threads;
        this.retired = retired;
        this.loan = budgets.leases().lend(caller, null, 1);
        try {
            this.domain = context.allocateProtectionDomain();
        } catch (Throwable e) {
            loan.close();
            throw e;
        }
        ClientRings rings = new ClientRings(client, context, domain, holders, handlers, threads, retired);
        this.held = rings.held();
        this.connections = new ClientConnections(client, domain, completions, rings, retired, ClientLease::notOpen);
        this.spaces = new SpaceOpenings(
                domain, pool, amount -> client.lend(budgets.registrations(), amount), ClientLease::notOpen);
    }

    public long id() {
        return client.leaseId();
    }

    String clientName() {
        return client.clientName();
    }

    /** Id of the manager's cache, or {@link ControlPlane#NO_CACHE}. */
    public long cacheId() {
        return cacheId;
    }

    /** The borrower of the resources that are lent under this lease. */
    Borrower client() {
        return client;
    }

    public ClientConnections connections() {
        return connections;
    }

    /** The shared spaces that the lease has open. */
    public SpaceOpenings spaces() {
        return spaces;
    }

    public void renew() {
        requireOpen();
        renewedAt = System.nanoTime();
    }

    boolean expired() {
        return System.nanoTime() - renewedAt > durationNanos;
    }

    public synchronized List<RegionGrant> allocate(int regions, long allocationId) {
        requireOpen();
        abandoned.refuse(allocationId);
        if (regions < 1) {
            throw new ControlException(Code.INVALID_ARGUMENT, regions + " regions asked for; ask for at least 1");
        }
        int rights = Access.LOCAL_WRITE | domain.context().limits().remoteAccess();
        int[] ids = pool.take(regions);
        List<LeasedRegion> granted = new ArrayList<>();
        try {
            for (int regionId : ids) {
                granted.add(grant(regionId, allocationId, rights));
            }
        } catch (Throwable e) {
            for (LeasedRegion grant : granted) {
                grant.registration.close();
            }
            for (int regionId : ids) {
                pool.free(regionId);
            }
            throw e;
        }
        for (LeasedRegion grant : granted) {
            grants.put(grant.regionId, grant);
            held.hold(grant.regionId);
        }
        return granted.stream().map(LeasedRegion::described).toList();
    }

    private LeasedRegion grant(int regionId, long allocationId, int rights) {
        MemorySegment region = pool.segment(regionId);
        RegionExport export = new RegionExport(regionId, region, client, completions, retired);
        return new LeasedRegion(regionId, allocationId, domain.register(region, rights), export);
    }

    /**
     * @param allocationId by which it was granted, or {@link ControlPlane#ANY_ALLOCATION}
     * @throws ControlException INTERNAL if the device is busy with the region: it becomes free when that has ended
     */
    public void release(int regionId, long allocationId) {
        LeasedRegion grant;
        Fence wait = new Fence("client " + client.clientName());
        synchronized (this) {
            grant = grant(regionId);
            if (allocationId != ControlPlane.ANY_ALLOCATION && allocationId != grant.allocationId) {
                throw new ControlException(
                        Code.NOT_FOUND, "the lease holds region " + regionId + " by another allocation");
            }
            grants.remove(regionId);
            leaving.add(grant);
            cutOff(List.of(grant), wait);
        }
        long deadline = System.nanoTime() + RetiredResources.PATIENCE_NANOS;
        while (!wait.close()) {
            LockSupport.parkNanos(1_000_000L);
            if (System.nanoTime() - deadline > 0) {
                retired.add("region " + regionId + " of client " + client.clientName(), () -> {
                    boolean done = wait.close();
                    if (done && left(grant, wait)) {
                        pool.giveBackLater(List.of(regionId));
                    }
                    return done;
                });
                throw new ControlException(
                        Code.INTERNAL,
                        "region " + regionId + " is taken back, but an operation on "
                                + "it has been under way for " + RetiredResources.PATIENCE_NANOS / 1_000_000
                                + " ms, as if a process were stopped; it stays withdrawn "
                                + "until that operation ends");
            }
        }
        if (!left(grant, wait)) {
            throw new ControlException(
                    Code.INTERNAL, "the device did not release region " + regionId + "; it stays withdrawn");
        }
        pool.giveBack(regionId);
    }

    /** Takes back the regions of an allocation; an allocation that arrives later is refused. */
    public void abandon(long allocationId) {
        List<Integer> granted;
        synchronized (this) {
            requireOpen();
            abandoned.add(allocationId);
            granted = grants.values().stream()
                    .filter(grant -> grant.allocationId == allocationId)
                    .map(grant -> grant.regionId)
                    .toList();
        }
        ControlException failed = null;
        for (int regionId : granted) {
            try {
                release(regionId, allocationId);
            } catch (ControlException e) {
                // Another call may have released it in the meantime.
                failed = e.code() == Code.NOT_FOUND ? failed : e;
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    /**
     * Removes a region that was fenced.
     *
     * @return whether the region may be granted again; then the pool expects it
     */
    private synchronized boolean left(LeasedRegion grant, Fence wait) {
        leaving.remove(grant);
        if (wait.failed()) {
            return false;
        }
        pool.expect(1);
        return true;
    }

    /** Adds all resources that reach some regions to a fence. The lease's lock is held. */
    private void cutOff(Iterable<LeasedRegion> some, Fence wait) {
        for (LeasedRegion grant : some) {
            holders.clear(grant.regionId);
            grant.cutOff(wait);
        }
        wait.add("the server threads", threads::barrier);
        wait.nextStage();
        for (LeasedRegion grant : some) {
            wait.add("the registration of region " + grant.regionId, grant.registration);
        }
    }

    public synchronized ExportTicket<RegionExport> export(int regionId, ExportTickets<RegionExport> tickets) {
        return grant(regionId).export.issue(tickets);
    }

    /** The number of a call that begins to pull into a region. Fails if the lease does not hold the region. */
    synchronized LeasedRegion.PullTurn turn(int regionId) {
        return grant(regionId).nextTurn();
    }

    /**
     * Keeps a pull until it is taken, expires or the region is given back; an earlier kept pull is abandoned.
     *
     * @throws ControlException CANCELLED if the call is late: a later one has arrived before it
     */
    void keep(LeasedRegion.PullTurn turn, PreparedPull pull) {
        PreparedPull before;
        synchronized (this) {
            LeasedRegion grant = grant(turn);
            before = grant.prepared;
            grant.prepared = pull;
            grant.arrived(turn);
            grant.pullExpired = false;
            if (pullsSince == 0) {
                pullsSince = System.nanoTime() | 1;
            }
        }
        if (before != null) {
            abandon(before);
        }
    }

    /** Takes the kept pull if it is for that export; returns null otherwise. The caller then owns it. */
    synchronized @Nullable PreparedPull take(int regionId, String sourceAddress, byte[] token) {
        LeasedRegion grant = grant(regionId);
        PreparedPull pull = grant.prepared;
        if (pull == null && grant.pullExpired) {
            grant.pullExpired = false;
            throw new ControlException(
                    Code.TICKET_REFUSED,
                    "the pull that was prepared for region " + regionId
                            + " was not begun in time, and is closed; export the region and prepare the pull again");
        }
        if (pull == null || !pull.isFor(sourceAddress, token)) {
            return null;
        }
        grant.prepared = null;
        return pull;
    }

    /** Whether {@link #expirePulls} is due. Never waits, and returns true to one caller. */
    boolean pullsExpire(long nanos) {
        long since = pullsSince;
        return since != 0 && System.nanoTime() - since > nanos && expiringPulls.compareAndSet(false, true);
    }

    /** Abandons pulls that were prepared longer ago than that and not begun. */
    void expirePulls(long nanos) {
        List<PreparedPull> old = new ArrayList<>();
        synchronized (this) {
            long oldest = 0;
            for (LeasedRegion grant : grants.values()) {
                if (grant.prepared != null && grant.prepared.age() > nanos) {
                    old.add(grant.prepared);
                    grant.prepared = null;
                    grant.pullExpired = true;
                } else if (grant.prepared != null) {
                    oldest = Math.max(oldest, grant.prepared.age());
                }
            }
            pullsSince = oldest == 0 ? 0 : System.nanoTime() - oldest | 1;
            expiringPulls.set(false);
        }
        old.forEach(this::abandon);
    }

    void abandon(PreparedPull pull) {
        retired.close("a pull of client " + client.clientName(), pull::abandon);
    }

    /**
     * Ends a pull that fills the region, if there is one: its client begins again, after a failure that may have kept
     * it from ending the first. Takes bounded time: if the device is busy with it, the next pull is refused.
     */
    void endFill(int regionId) {
        RegionFill running = fill(regionId);
        if (running == null) {
            return;
        }
        running.cancel();
        long deadline = System.nanoTime() + RetiredResources.PATIENCE_NANOS;
        while (fill(regionId) == running && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(100_000L);
        }
    }

    private synchronized @Nullable RegionFill fill(int regionId) {
        return grant(regionId).fill;
    }

    /**
     * Registers a pull that fills the region. From here to {@link #detach}, giving the region back first stops the
     * pull, which must be closed before it is detached. Refuses as {@link #keep} does.
     */
    synchronized LeasedRegion attach(LeasedRegion.PullTurn turn, RegionFill fill) {
        LeasedRegion grant = grant(turn);
        if (grant.fill != null) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT, "region " + grant.regionId + " is being filled by another pull");
        }
        grant.fill = fill;
        grant.arrived(turn);
        return grant;
    }

    synchronized void detach(LeasedRegion grant) {
        grant.fill = null;
    }

    /** Returns true to one caller, which then ends the lease or calls {@link #notEnding}. */
    boolean beginEnding() {
        return ending.compareAndSet(false, true);
    }

    void notEnding() {
        ending.set(false);
    }

    /**
     * Fences the client, and frees everything but the regions.
     *
     * @return whether no operation of the client can reach anything any more; if false, the device is busy, and the
     *     caller tries again
     */
    boolean end() {
        fault.strike();
        Fence begun = fence();
        if (!begun.close()) {
            return false;
        }
        loan.close();
        spaces.ended(!connections.unfenced() && !begun.failed());
        return true;
    }

    private synchronized Fence fence() {
        Fence begun = fence;
        if (begun == null) {
            closed = true;
            Fence made = new Fence("client " + client.clientName());
            connections.cutOff(made);
            List<LeasedRegion> all = new ArrayList<>(grants.values());
            all.addAll(leaving);
            cutOff(all, made);
            spaces.cutOff(made);
            made.nextStage();
            made.add("a protection domain", domain);
            fenced = List.copyOf(grants.keySet());
            fence = made;
            return made;
        }
        return begun;
    }

    /**
     * To be called after {@link #end}: returns, once, the regions that are to be zeroed and granted again, which the
     * pool expects then; none if a resource could not be fenced.
     */
    synchronized List<Integer> takeRegions() {
        List<Integer> regions = connections.unfenced() || fence == null || fence.failed() ? List.of() : fenced;
        fenced = List.of();
        grants.clear();
        connections.forget();
        pool.expect(regions.size());
        return regions;
    }

    /** @param callNanos time that server threads have spent on its calls */
    synchronized LeaseStatus status(long callNanos) {
        long left = durationNanos - (System.nanoTime() - renewedAt);
        return new LeaseStatus(
                client.clientName(), cacheId, regions(), connections.count(), Math.max(0, left), callNanos);
    }

    /** For the log. */
    synchronized int regions() {
        return grants.size() + leaving.size();
    }

    private LeasedRegion grant(int regionId) {
        requireOpen();
        LeasedRegion grant = grants.get(regionId);
        if (grant == null) {
            throw new ControlException(
                    Code.NOT_FOUND, "the lease does not hold region " + Integer.toUnsignedString(regionId));
        }
        return grant;
    }

    /**
     * The region into which a call pulls. The call's client may have given up on it and begun a later one: then the
     * later one's state must stay, and this one is refused.
     */
    private LeasedRegion grant(LeasedRegion.PullTurn turn) {
        LeasedRegion grant = grant(turn.grant().regionId);
        if (grant != turn.grant() || grant.isLate(turn)) {
            throw new ControlException(
                    Code.CANCELLED,
                    "region " + grant.regionId
                            + " was granted again, or a later pull into it has arrived; this pull is cancelled");
        }
        return grant;
    }

    private void requireOpen() {
        if (closed) {
            throw notOpen();
        }
    }

    /** The exception for a lease that is unknown or has ended. */
    static ControlException notOpen() {
        return new ControlException(
                Code.LEASE_EXPIRED,
                "the lease is unknown, closed, or was not renewed in time; its regions are freed, so open another");
    }
}
