package io.farheap.server;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ManagerKey;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.SignedGrant;
import io.farheap.control.plane.Caller;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.PullSource;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.RegionUse;
import io.farheap.control.plane.RingRequest;
import io.farheap.control.plane.SpacePlane;
import io.farheap.control.plane.Ticket;
import io.farheap.control.plane.WantedRegions;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.AvailableMemory;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.budget.Budgets;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.fence.RetiredResources;
import io.farheap.server.lease.ClientLease;
import io.farheap.server.lease.DeviceCalls;
import io.farheap.server.lease.GrantBook;
import io.farheap.server.lease.IncomingPulls;
import io.farheap.server.lease.Leases;
import io.farheap.server.pool.ManagerPromises;
import io.farheap.server.pool.RegionPool;
import io.farheap.server.pool.RegionZeroer;
import io.farheap.server.pool.ResourceMonitor;
import io.farheap.server.pull.ExportTicket;
import io.farheap.server.pull.ExportTickets;
import io.farheap.server.pull.RegionExport;
import io.farheap.server.pull.SourceConnectionPool;
import io.farheap.server.service.ServerService;
import io.farheap.server.space.Spaces;
import io.farheap.server.thread.ServerThreads;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.Endpoint;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.soft.SoftverbsCounters;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A memory server's implementation of the control plane, with all of the server's parts. Each lease registers the
 * regions that it is granted once more, in a protection domain of its own. Regions are zeroed before they are granted
 * again.
 *
 * <p>Thread-safe. No call may be in progress in {@link #close}.
 */
final class ServerPlane implements ControlPlane, AutoCloseable {

    static final String MODEL_OPERATIONS = "softverbs.operations";
    static final String MODEL_LATE = "softverbs.late";

    private static final System.Logger LOG = System.getLogger(ServerPlane.class.getName());
    private static final long TICKET_NANOS = 30_000_000_000L;
    private static final long PULL_NANOS = 60_000_000_000L;

    private final SecureRandom random = new SecureRandom();
    private final long id = random.nextLong();
    private final ServerOptions options;
    private final Context context;
    /**
     * Regions that other servers are reading, by pull id; entries whose grants have ended are removed when the next one
     * is added.
     */
    private final Map<Long, RegionExport> pulls = new ConcurrentHashMap<>();

    private final ExportTickets<RegionExport> tickets;
    private final SourceConnectionPool sources = new SourceConnectionPool();
    private final RpcHandlers handlers = new RpcHandlers();
    private final ManagerPromises promises;
    private final List<ServerService> services = new ArrayList<>();
    private RegionPool pool;
    private CompletionQueue completions;
    private ServerThreads threads;
    private RegionHolders holders;
    private Budgets budgets;
    private RetiredResources retired;
    private Leases leases;
    private Spaces spaces;
    private IncomingPulls incoming;
    private ResourceMonitor monitor;
    /** Null if there is no manager. */
    private volatile @Nullable GrantBook grants;

    private boolean closed;

    private ServerPlane(ServerOptions options, long ticketNanos, long pullNanos, LongSupplier nanos) {
        this.options = options;
        this.promises = new ManagerPromises(nanos);
        this.tickets = new ExportTickets<>(ticketNanos);
        context = Devices.open(options.device());
        try {
            context.requireActivePort();
            context.checkAddress();
            pool = new RegionPool(
                    context,
                    options.regionBytes(),
                    options.regions(),
                    options.headroom().isKept());
            completions = context.createCompletionQueue(1, 1, null);
            ServiceLoader.load(ServerService.class, ServerService.class.getClassLoader())
                    .forEach(services::add);
            threads = new ServerThreads(context, options.threads(), options.idle(), options.pinned(), services);
            holders = new RegionHolders(pool.memory(), options.regionBytes(), options.regions());
            budgets = Budgets.of(options.limits(), context.limits(), AvailableMemory.bytes());
            retired = new RetiredResources();
            leases = new Leases(options.leaseNanos(), pullNanos, pool, retired);
            spaces = new Spaces(leases, pool, threads, budgets, retired, () -> grants != null);
            leases.alsoReap(spaces::expire);
            leases.alsoTell(lease -> services.forEach(service -> service.leaseEnded(lease)));
            incoming = new IncomingPulls(context, pool, budgets, sources, retired);
            services.forEach(service -> service.threads(threads::startAll));
            services.forEach(service -> service.install(options, handlers, spaces));
            monitor = new ResourceMonitor(options.headroom(), pool, holders, this::promisedRegions, promises::keep);
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    /**
     * Opens the device, allocates the memory and registers it.
     *
     * @throws IllegalArgumentException if the machine has less memory available
     * @throws VerbsException if there is no such device, it has no active port, or it cannot register that much
     */
    static ServerPlane open(ServerOptions options) {
        return open(options, TICKET_NANOS);
    }

    /** @param ticketNanos how long an exported region waits to be opened */
    static ServerPlane open(ServerOptions options, long ticketNanos) {
        return open(options, ticketNanos, PULL_NANOS);
    }

    /** @param pullNanos how long a prepared pull waits to be begun */
    static ServerPlane open(ServerOptions options, long ticketNanos, long pullNanos) {
        return new ServerPlane(options, ticketNanos, pullNanos, System::nanoTime);
    }

    /** @param nanos the clock by which it waits for a manager that is to say what is promised */
    static ServerPlane open(ServerOptions options, LongSupplier nanos) {
        return new ServerPlane(options, TICKET_NANOS, PULL_NANOS, nanos);
    }

    /**
     * Lets clients call an operation from now on. Its handler runs on the threads that serve message rings, at most
     * {@link ServerOptions#threads} at a time.
     *
     * @param operation 0 to {@link RpcHandlers#MOST} - 1
     * @throws IllegalArgumentException if the number is out of bounds or taken
     */
    void register(int operation, RpcHandler handler) {
        handlers.register(operation, handler);
    }

    /**
     * Refuses calls of an operation from now on; when this returns, none is being executed. A handler must not call it,
     * since it would wait for itself.
     */
    void unregister(int operation) {
        handlers.unregister(operation);
        threads.barrier();
    }

    /**
     * From now on a lease needs the grant of a cache manager. To be called before clients are served.
     *
     * @return called with each manager that introduces itself
     */
    Consumer<ManagerKey> requireGrants() {
        GrantBook book = new GrantBook(id, System::nanoTime);
        grants = book;
        return book::learn;
    }

    /** Memory that leases share. */
    @Override
    public SpacePlane spaces() {
        return spaces;
    }

    /** The memory that leases share, for services in this process, such as the handlers of calls. */
    ServedSpaces servedSpaces() {
        return spaces;
    }

    /**
     * The counts of the server's services since it began, by name, such as {@code procedures.calls.done}, and those of
     * softverbs' model in this process. Any thread; the numbers are of about one moment.
     */
    Map<String, Long> counters() {
        Map<String, Long> all = new TreeMap<>();
        services.forEach(service -> all.putAll(service.counters()));
        SoftverbsCounters device = SoftverbsCounters.now(context.library());
        if (device.modelled()) {
            all.put(MODEL_OPERATIONS, device.operations());
            all.put(MODEL_LATE, device.late());
        }
        return all;
    }

    private long callNanos(long leaseId) {
        return services.stream()
                .mapToLong(service -> service.callNanos(leaseId))
                .sum();
    }

    Leases leases() {
        return leases;
    }

    ServerThreads threads() {
        return threads;
    }

    RegionZeroer zeroing() {
        return pool.zeroing();
    }

    RetiredResources retired() {
        return retired;
    }

    Budgets budgets() {
        return budgets;
    }

    /** {@link io.farheap.verbs.Context#label} of the device in use. */
    String device() {
        return context.label();
    }

    @Override
    public ServerDescription hello(int protocolVersion) {
        if (protocolVersion != PROTOCOL_VERSION) {
            throw new ControlException(
                    Code.PROTOCOL_MISMATCH,
                    "the client speaks version " + Integer.toUnsignedString(protocolVersion)
                            + " of Farheap's control protocol and the server version " + PROTOCOL_VERSION
                            + "; run the same release on both");
        }
        return new ServerDescription(
                id,
                options.name(),
                options.domain(),
                PROTOCOL_VERSION,
                pool.regionBytes(),
                pool.total(),
                pool.freeCount());
    }

    @Override
    public Lease openLease(String clientName, long cacheId, SignedGrant grant) {
        if (clientName.length() > MAX_NAME_LENGTH) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "a client name of " + clientName.length() + " characters; it has at most " + MAX_NAME_LENGTH);
        }
        GrantBook book = grants;
        if (book != null) {
            book.show(cacheId, grant, () -> leases.regionsByCache().keySet());
        }
        return DeviceCalls.call(() -> {
            ClientLease lease = new ClientLease(
                    random.nextLong(),
                    clientName,
                    cacheId,
                    Caller.current(),
                    options.leaseNanos(),
                    pool,
                    context,
                    completions,
                    holders,
                    handlers,
                    threads,
                    budgets,
                    retired);
            leases.add(lease);
            if (book != null) {
                endWhereOver(book, lease);
            }
            return new Lease(lease.id(), options.leaseNanos());
        });
    }

    @Override
    public void showGrant(long leaseId, SignedGrant grant) {
        long cacheId = leases.require(leaseId).cacheId();
        GrantBook book = grants;
        if (book != null) {
            book.show(cacheId, grant, () -> leases.regionsByCache().keySet());
        }
    }

    /**
     * To be called when the server is about to end. Clients that give regions back then do not wait until these are
     * zeroed; regions are still zeroed before another client gets them.
     */
    void leave() {
        pool.zeroLater();
    }

    /** How many regions the caches of managers hold, by the cache's id; 0 for a cache that has only a lease. */
    Map<Long, Integer> regionsByCache() {
        return leases.regionsByCache();
    }

    /** The number of regions that caches with a lease may still take by the grants that they have shown. */
    private OptionalInt promisedRegions() {
        GrantBook book = grants;
        return book == null ? OptionalInt.empty() : OptionalInt.of(book.untaken(leases.regionsByCache()));
    }

    /** As {@link MemoryServer#promised}. */
    void promised(int regions) {
        if (regions >= 0) {
            promises.said(regions);
            monitor.wake();
        }
    }

    /** As {@link MemoryServer#reportWanted}. */
    int reportWanted() {
        return monitor.wanted(promises::reports);
    }

    /** How many regions the machine has for now. */
    int withdrawnRegions() {
        return pool.withdrawnCount();
    }

    /** Ends the lease again if its cache was ended between the check of the grant and the opening of the lease. */
    private void endWhereOver(GrantBook book, ClientLease lease) {
        try {
            book.requireNotEnded(lease.cacheId());
        } catch (ControlException e) {
            Closeables.after(e, () -> leases.close(lease));
            throw e;
        }
    }

    /**
     * Ends caches of managers: their leases are fenced, their regions are zeroed and become free, and no grant opens
     * another lease. Returns before all that is done; idempotent.
     */
    void endCaches(Set<Long> caches) {
        GrantBook book = grants;
        if (book != null) {
            book.end(caches);
            leases.endCaches(caches);
        }
    }

    /**
     * Of the caches that were ended recently: those that hold nothing on this server any more, if no region still has
     * to be zeroed.
     */
    Set<Long> endedCaches() {
        GrantBook book = grants;
        Set<Long> ended = book == null ? Set.of() : new HashSet<>(book.ended());
        if (ended.isEmpty()) {
            return ended;
        }
        ended.removeAll(regionsByCache().keySet());
        return pool.expectsNone() ? ended : Set.of();
    }

    @Override
    public void renewLease(long leaseId) {
        leases.require(leaseId).renew();
    }

    @Override
    public void closeLease(long leaseId) {
        ClientLease lease = leases.find(leaseId);
        if (lease != null) {
            leases.close(lease);
        }
    }

    @Override
    public ConnectedQueuePair connect(long leaseId, Endpoint client) {
        return DeviceCalls.call(() -> leases.require(leaseId).connections().connect(random.nextLong(), client));
    }

    @Override
    public ConnectedRing connectRing(long leaseId, RingRequest request) {
        return DeviceCalls.call(() -> leases.require(leaseId).connections().connectRing(random.nextLong(), request));
    }

    @Override
    public void disconnect(long leaseId, long connectionId) {
        ClientLease lease = leases.find(leaseId);
        if (lease != null) {
            lease.connections().disconnect(connectionId);
        }
    }

    @Override
    public List<RegionGrant> allocate(long leaseId, int regions, long allocationId) {
        ClientLease lease = leases.require(leaseId);
        Supplier<List<RegionGrant>> allocate = () -> DeviceCalls.call(() -> lease.allocate(regions, allocationId));
        GrantBook book = grants;
        if (book == null) {
            return allocate.get();
        }
        long cacheId = lease.cacheId();
        return book.give(cacheId, regions, () -> leases.regionsByCache().getOrDefault(cacheId, 0), allocate);
    }

    @Override
    public void release(long leaseId, int regionId, long allocationId) {
        leases.require(leaseId).release(regionId, allocationId);
    }

    @Override
    public void abandon(long leaseId, long allocationId) {
        leases.require(leaseId).abandon(allocationId);
    }

    @Override
    public Ticket export(long leaseId, int regionId) {
        ExportTicket<RegionExport> ticket = leases.require(leaseId).export(regionId, tickets);
        return new Ticket(ticket.token(), tickets.validNanos());
    }

    @Override
    public PullSource openPull(byte[] token, Endpoint puller) {
        ExportTicket<RegionExport> ticket = tickets.redeem(token);
        long pullId = random.nextLong();
        pulls.values().removeIf(RegionExport::over);
        return DeviceCalls.call(() ->
                ticket.export.openPull(ticket, pullId, context, puller, pulls).described());
    }

    @Override
    public void closePull(long pullId) {
        RegionExport export = pulls.get(pullId);
        if (export != null) {
            export.closePull(pullId);
            pulls.remove(pullId, export);
        }
    }

    @Override
    public WatermarkEndpoint preparePull(
            long leaseId, int regionId, String sourceAddress, byte[] token, PullPace pace) {
        return incoming.prepare(leases.require(leaseId), regionId, sourceAddress, token, pace);
    }

    @Override
    public WatermarkEndpoint prepareRebuild(long leaseId, int regionId, RebuildPlan plan, PullPace pace) {
        return incoming.prepareRebuild(leases.require(leaseId), regionId, plan, pace);
    }

    @Override
    public PullResult pull(long leaseId, int regionId, String sourceAddress, byte[] token) {
        return incoming.pull(leases.require(leaseId), regionId, sourceAddress, token);
    }

    @Override
    public WantedRegions reportUse(long leaseId, List<RegionUse> uses) {
        return monitor.report(leases.require(leaseId).id(), uses);
    }

    @Override
    public ServerStatus describe() {
        return new ServerStatus(
                hello(PROTOCOL_VERSION),
                pool.withdrawnCount(),
                leases.statuses(this::callNanos),
                spaces.count(),
                monitor.status(),
                counters());
    }

    /**
     * Ends all leases and gives the memory back to the machine. Takes bounded time: if a client is stopped in the
     * middle of an operation, the memory stays until this process ends. Idempotent.
     */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        Closeables.all(monitor, sources, this::closeLeases, () -> services.forEach(ServerService::closed));
    }

    private void closeLeases() {
        // Stop both, whatever the first returns.
        boolean unused = spaces == null || spaces.stop();
        if (leases == null || leases.stop() && unused) {
            Closeables.all(retired, threads, completions, pool, context);
            return;
        }
        LOG.log(
                System.Logger.Level.WARNING,
                "a client is stopped in the middle of an operation, or a service is; the memory of "
                        + "this server is given back when its process ends");
        Closeables.all(retired, pool.zeroing(), threads::stop);
    }
}
