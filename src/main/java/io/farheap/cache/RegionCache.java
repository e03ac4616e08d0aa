package io.farheap.cache;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.calls.CallHost;
import io.farheap.cache.calls.CallLinks;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CallCounts;
import io.farheap.cache.managed.ManagedCacheClient;
import io.farheap.cache.move.CacheMoves;
import io.farheap.cache.move.CacheReshaper;
import io.farheap.cache.move.CacheResizer;
import io.farheap.cache.move.CacheServers;
import io.farheap.cache.move.LostRegions;
import io.farheap.cache.move.RegionPlacement;
import io.farheap.cache.move.Relocation;
import io.farheap.cache.objective.SloWatch;
import io.farheap.cache.order.RegionHeat;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.paths.CachePaths;
import io.farheap.cache.paths.DataPaths;
import io.farheap.cache.paths.SessionOpener;
import io.farheap.cache.session.DataPath;
import io.farheap.cache.session.SessionCore;
import io.farheap.connection.Connection;
import io.farheap.control.ControlException;
import io.farheap.control.SignedGrant;
import io.farheap.latency.LatencyTracker;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.memory.Plurals;
import io.farheap.memory.RegisteredMemory;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.migration.region.MigrationParticipant;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.CompletionEvents;
import io.farheap.remote.device.OpenDevice;
import io.farheap.slo.Explanation;
import io.farheap.slo.Slo;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A cache whose regions are each on one server, and can move to others. */
final class RegionCache extends Cache {

    private static final System.Logger LOG = System.getLogger(RegionCache.class.getName());

    private final RegionCacheHost inside = new RegionCacheHost();
    private final OpenDevice device;
    private final RegionTable table;
    private final CacheMoves moves;
    private final CacheProcedures procedures;
    /** Null if the cache has no objective. */
    private final @Nullable SloWatch watch;

    private final CacheServers servers;
    private final Relocation relocation;

    private final SessionOpener opening;
    private final CacheReshaper reshaping;
    private final CachePaths paths;

    RegionCache(CacheOptions options) {
        super(options);
        try (CloseStack stack = new CloseStack()) {
            device = stack.add(new OpenDevice(options.device(), options.name()));
            checkDepth(options.configuration());
            if (options.tuning() != null) {
                options.tuning().check(device.context());
            }
            servers = new CacheServers(
                    options.name(), options.management(), device, sessions, openings.writeLock(), this::lost);
            for (String address : options.servers()) {
                servers.all().add(stack.add(servers.attach(address)));
            }
            table = RegionPlacement.allocate(
                    servers.all(),
                    options.capacity(),
                    options.management() == null ? null : options.management().shares());
            opening = new SessionOpener(
                    inside, device, table, sessions, servers, openings.readLock(), RegionCache.this::checkOpen);
            procedures = stack.add(new CacheProcedures(
                    options.name(),
                    device,
                    table,
                    servers.all(),
                    () -> sessions.forEach(session -> session.sleeper.wake())));
            moves = new CacheMoves(device.context(), table, servers.all(), procedures, () -> sessions.stream()
                    .<MigrationParticipant>map(session -> session.participant)
                    .toList());
            relocation = new Relocation(inside, servers, table, moves, procedures, sessions, options.management());
            CacheResizer resizing =
                    new CacheResizer(inside, table, moves, servers.all(), sessions, options.management());
            paths = stack.add(new CachePaths(
                    sessions,
                    servers,
                    openings.writeLock(),
                    how -> new DataPaths(inside, deviceName(), options.session(), how),
                    moves::requireGoing,
                    options.configuration()));
            load();
            watch = SloWatch.of(options.name(), options.tuning(), latency);
            reshaping = new CacheReshaper(
                    inside, relocation.lock(), resizing, options.management() != null, options.tuning(), watch);
            stack.keep();
        }
        if (options.management() != null) {
            options.management().manage(inside);
        }
    }

    @Override
    public long capacity() {
        return table.capacity();
    }

    @Override
    public Context context() {
        return device.context();
    }

    @Override
    public long regionBytes() {
        return table.regionBytes();
    }

    @Override
    public int regions() {
        return table.size();
    }

    @Override
    public String serverOf(int region) {
        return table.get(region).copy().server().address();
    }

    @Override
    public long movedBytes(int region) {
        return table.movedBytes(region);
    }

    @Override
    SessionCore open(@Nullable OperationLatency recorder) {
        return opening.open(paths, recorder);
    }

    @Override
    public Procedures procedures() {
        checkOpen();
        return new Procedures(procedures);
    }

    @Override
    public CallCounts callCounts() {
        return procedures.tally().now();
    }

    @Override
    public CacheConfiguration configuration() {
        return paths.configuration();
    }

    @Override
    public void reconfigure(CacheConfiguration how) {
        checkOpen();
        checkDepth(how);
        relocation.unmoved(() -> {
            checkOpen();
            paths.change(how);
            return true;
        });
    }

    @Override
    public Explanation reshape(Slo objective) {
        return reshaping.to(objective);
    }

    @Override
    public Explanation retune() {
        return reshaping.retune();
    }

    @Override
    public void reshape(long bytes) {
        reshaping.to(bytes);
    }

    @Override
    public Explanation reshape(long bytes, Slo objective) {
        return reshaping.to(bytes, objective);
    }

    private void checkDepth(CacheConfiguration how) {
        if (how.queueDepth() > Connection.maxDepth(device.context().limits())) {
            throw new IllegalArgumentException("a queue depth of " + how.queueDepth() + "; "
                    + device.context().device().name() + " takes up to "
                    + Connection.maxDepth(device.context().limits()));
        }
    }

    @Override
    Buffer register(long bytes) {
        RegisteredMemory memory =
                RegisteredMemory.allocate(device.domain(), "farheap-buffer", bytes, Access.LOCAL_WRITE);
        return new Buffer(inside, memory.segment(), memory.localKey(), memory);
    }

    @Override
    Buffer wrap(MemorySegment memory) {
        MemoryRegion registration = device.domain().register(memory, Access.LOCAL_WRITE);
        return new Buffer(inside, memory, registration.localKey(), registration);
    }

    @Override
    @Nullable
    SloWatch watch() {
        return watch;
    }

    @Override
    public List<String> servers() {
        return servers.addresses();
    }

    @Override
    public void addServer(String address) {
        relocation.addServer(address);
    }

    @Override
    public MigrationResult migrate(List<Integer> regions, String to, MigrationOptions how) {
        return relocation.migrate(regions, to, how);
    }

    @Override
    public MigrationResult retire(String address, MigrationOptions how, Consumer<MigrationResult> moved) {
        return relocation.retire(address, how, moved);
    }

    @Override
    void end() {
        try {
            endAll();
        } finally {
            if (deleted() && options.management() != null) {
                options.management().close();
            }
        }
    }

    @Override
    void refuseInListener() {
        relocation.refuseInListener();
    }

    private void endAll() {
        // A thread that moves or changes the cache holds the lock.
        moves.stop();
        relocation.lock().lock();
        try (CloseStack everything = new CloseStack()) {
            if (!beginEnd()) {
                return;
            }
            everything.add(device);
            if (watch != null) {
                everything.add(watch);
            }
            servers.all().forEach(everything::add);
            everything.add(procedures);
            endSessions(everything);
            everything.add(paths::stop);
        } finally {
            relocation.lock().unlock();
        }
    }

    private String deviceName() {
        return device.context().device().name();
    }

    OpenDevice device() {
        return device;
    }

    RegionTable table() {
        return table;
    }

    private void end(SessionCore session) {
        // The session stays listed until nothing that it posted can take effect any more: a migration has to drain or
        // fence it until then.
        try {
            session.lifeCycle.destroy();
        } finally {
            sessions.remove(session);
            // If the constructor fails, a worker session is closed before the field is set.
            if (paths != null) {
                paths.forget(session);
            }
        }
    }

    /** Called on a thread of that server's, after all sessions' connections to it have been failed. */
    private void lost(RemoteServer server, ControlException cause) {
        if (deleted()) {
            return;
        }
        String ended = endedWhy();
        String why = ended == null ? cause.getMessage() : ended;
        int regions = moves == null ? 0 : moves.regionsOf(server);
        LostServerListener listener = options.lostListener();
        if (listener != null) {
            listener.serverLost(server.address(), why, regions);
        } else if (regions > 0) {
            LOG.log(System.Logger.Level.WARNING, describeLoss(server, why, regions));
        }
    }

    /**
     * The warning for an application without a listener, which would otherwise notice with its next request to these
     * regions.
     */
    private String describeLoss(RemoteServer server, String why, int regions) {
        return "cache " + options.name() + " has lost " + regions + " of its "
                + Plurals.of(table.size(), "region") + " with memory server " + server.address() + " (" + why
                + "), and other servers do not replace them: " + LostRegions.REMEDY;
    }

    /** Why the manager has ended the cache, or null. */
    private @Nullable String endedWhy() {
        ManagedCacheClient management = options.management();
        return management == null ? null : management.endedWhy();
    }

    /** The cache, as its sessions, its buffers and its data paths use it, without its other methods. */
    private final class RegionCacheHost
            implements SessionCore.Owner,
                    DataPaths.DataPathHost,
                    CacheReshaper.ReshapeHost,
                    Relocation.RelocationHost,
                    CallHost {

        @Override
        public CallHost calls() {
            return this;
        }

        @Override
        public RegionTable table() {
            return table;
        }

        @Override
        public CacheProcedures procedures() {
            return procedures;
        }

        @Override
        public boolean atomics() {
            return device.context().limits().atomics();
        }

        @Override
        public CallLinks callLinks(OwnerGate gate, Runnable wake) {
            return new CallLinks(
                    device.context(),
                    Math.max(1, configuration().serverThreads()),
                    device.events(),
                    device.lifetime()::closesLater,
                    gate,
                    wake);
        }

        @Override
        public RequestBuffer register(long bytes) {
            return RegionCache.this.register(bytes);
        }

        @Override
        public long capacity() {
            return table.capacity();
        }

        @Override
        public void checkOpen() {
            relocation.refuseInListener();
            RegionCache.this.checkOpen();
        }

        @Override
        public CacheConfiguration configuration() {
            return RegionCache.this.configuration();
        }

        @Override
        public void reconfigure(CacheConfiguration how) {
            RegionCache.this.reconfigure(how);
        }

        @Override
        public LatencyTracker latency() {
            return latency;
        }

        @Override
        public CompletionEvents events() {
            return device.events();
        }

        @Override
        public SessionCore openInternalSession() {
            return opening.openInternal(paths);
        }

        @Override
        public void refuseInCallback() {
            RegionCache.this.refuseInCallback();
        }

        @Override
        public void close(SessionCore session) {
            end(session);
        }

        @Override
        public void close(RequestBuffer buffer) {
            end(buffer);
        }

        @Override
        public void loseAll(SessionCore session) {
            servers.all().forEach(session.participant::lose);
        }

        @Override
        public String describeLoss(long address, long length) {
            String ended = endedWhy();
            return ended == null
                    ? LostRegions.describe(table, servers.all(), address, length)
                    : "the manager has ended the cache: " + ended + "; " + LostRegions.REMEDY;
        }

        @Override
        public String describeServers(long address, long length) {
            return LostRegions.describeServers(table, servers.all(), address, length);
        }

        @Override
        public DataPath ownPath(SessionCore session, @Nullable OperationLatency recorder, CacheConfiguration how) {
            return DataPath.own(
                    device, table, options.session(), how, session.admission.gate(), session.progress::look, recorder);
        }

        @Override
        public boolean holds(boolean write, long address, long length) {
            return table.holds(write, address, length);
        }

        @Override
        public SessionCore openWorkerSession(DataPaths owner) {
            return opening.openWorker(owner);
        }

        @Override
        public void reconnect(SessionCore worker) {
            servers.reconnect(worker);
        }

        @Override
        public List<String> servers() {
            return RegionCache.this.servers();
        }

        @Override
        public int regions() {
            return RegionCache.this.regions();
        }

        @Override
        public <T> T unmoved(Supplier<T> action) {
            return relocation.unmoved(action);
        }

        @Override
        public List<RemoteRegion> take(String address, int regions) {
            return RegionPlacement.grant(servers.get(address), regions);
        }

        @Override
        public String serverOf(int region) {
            return RegionCache.this.serverOf(region);
        }

        @Override
        public List<Integer> hottestFirst(List<Integer> regions) {
            return RegionHeat.hottestFirst(
                    regions, table, heat -> sessions.forEach(session -> session.pending.sample(heat)));
        }

        @Override
        public boolean uses(int region, String address) {
            return servers.any(address, table.get(region)::uses);
        }

        @Override
        public void doubt(String address) {
            servers.all().stream()
                    .filter(server -> server.address().equals(address))
                    .forEach(RemoteServer::doubt);
        }

        @Override
        public boolean serves(String address) {
            return servers.any(address, server -> server.lost() == null);
        }

        @Override
        public void showGrant(String address, SignedGrant grant) {
            servers.get(address).showGrant(grant);
        }

        @Override
        public void addServer(String address) {
            RegionCache.this.addServer(address);
        }

        @Override
        public MigrationResult migrate(
                List<Integer> regions, String from, String to, MigrationOptions how, BooleanSupplier givesWay) {
            return relocation.migrate(regions, from, to, how, givesWay);
        }

        @Override
        public void stay() {
            relocation.stay();
        }

        @Override
        public void retire(String address) {
            relocation.leave(address, options.migration(), moved -> {});
        }
    }
}
