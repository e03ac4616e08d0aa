package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.control.ControlException;
import io.farheap.control.SignedGrant;
import io.farheap.latency.LatencyTracker;
import io.farheap.latency.LatencyTracking;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.memory.RegisteredMemory;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.migration.RegionTable;
import io.farheap.remote.CompletionEvents;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.slo.Explanation;
import io.farheap.slo.Slo;
import io.farheap.thread.Joining;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.VerbsException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A byte-addressable cache in the memory of other machines (Redy, table 1). Create it with {@link #builder}, use it
 * through {@linkplain #openSession sessions}, move it with {@link #retire}, end it with {@link #delete}. Any thread may
 * call.
 */
public final class Cache implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Cache.class.getName());

    private final CacheOptions options;
    private final Inside inside = new Inside();
    private final CacheDevice device;
    private final LatencyTracker latency = new LatencyTracker();
    private final RegionTable table;
    private final CacheMoves moves;
    /** Null where the cache has no objective. */
    private final @Nullable SloWatch watch;

    private final List<RemoteServer> servers = new CopyOnWriteArrayList<>();
    private final List<Session> sessions = new CopyOnWriteArrayList<>();
    private final Set<FutureSession> futures = ConcurrentHashMap.newKeySet();
    private final Set<Buffer> buffers = ConcurrentHashMap.newKeySet();
    /** Guards which buffers and sessions there are, for short: no server is called under it. */
    private final ReentrantLock topology = new ReentrantLock();
    /**
     * Whoever opens a session, which takes as long as servers take to answer, shares it; whoever changes which servers
     * there are, or what new sessions are made of, has it alone for a moment, and so meets no session half open. Taken
     * before {@code topology}.
     */
    private final ReentrantReadWriteLock openings = new ReentrantReadWriteLock();
    /** One migration, or change of servers, at a time. */
    private final ReentrantLock moving = new ReentrantLock();

    private final Reshaping reshaping;
    /** Replaced with {@code openings} held alone. */
    private volatile DataPaths paths;
    /** The change that sessions are prepared for, or null; replaced with {@code openings} held alone. */
    private volatile @Nullable Reconfiguration changing;

    private int nextServerIndex;
    /** Set with {@code openings} held alone. */
    private volatile boolean deleted;

    Cache(CacheOptions options) {
        this.options = options;
        try (CloseStack stack = new CloseStack()) {
            device = stack.add(new CacheDevice(options.device(), options.name()));
            checkDepth(options.configuration());
            if (options.tuning() != null) {
                options.tuning().check(device.context());
            }
            for (String address : options.servers()) {
                servers.add(stack.add(attach(address)));
            }
            table = RegionPlacement.allocate(
                    servers,
                    options.capacity(),
                    options.management() == null ? null : options.management().shares());
            moves = new CacheMoves(device.context(), table, servers, () -> sessions.stream()
                    .map(Session::participant)
                    .toList());
            Resizing resizing = new Resizing(inside, table, moves, servers, sessions, options.management());
            paths = stack.add(new DataPaths(inside, device, table, options, options.configuration()));
            if (options.file() != null) {
                load(options.file());
            }
            watch = options.tuning() == null
                    ? null
                    : new SloWatch(
                            options.name(),
                            latency,
                            options.tuning().why(),
                            options.tuning().period(),
                            options.tuning().listener());
            reshaping = new Reshaping(inside, moving, resizing, options.management() != null, options.tuning(), watch);
            stack.keep();
        }
        if (options.management() != null) {
            options.management().manage(inside);
        }
    }

    public static CacheBuilder builder() {
        return new CacheBuilder();
    }

    /** Bytes: addresses go from 0 to this, exclusive. */
    public long capacity() {
        return table.capacity();
    }

    /** The RDMA device in use. */
    public Context context() {
        return device.context();
    }

    /** The size of the regions in which the cache moves, in bytes. */
    public long regionBytes() {
        return table.regionBytes();
    }

    public int regions() {
        return table.size();
    }

    /** The server that has a region now, or its beginning where it is on its way, as HOST:PORT. */
    public String serverOf(int region) {
        return table.get(region).copy().server().address();
    }

    /**
     * How much of a region that is moving, or did so in part, from its beginning on, is where it is to go: 0 for a
     * region in one place.
     */
    public long movedBytes(int region) {
        return table.movedBytes(region);
    }

    /**
     * A new session; it belongs to the first thread that uses it. It connects to every server anew, so it also replaces
     * one whose connection failed; requests to a server that cannot be reached end with {@link Status#LOST}.
     */
    public Session openSession() {
        checkOpen();
        openings.readLock().lock();
        try {
            checkOpen();
            OperationLatency recorder = options.latencyTracking() == LatencyTracking.NONE
                    ? null
                    : latency.newSource(options.latencyTracking());
            Session session = new Session(inside, recorder, false);
            try {
                begin(session, paths.open(session, recorder));
            } catch (Throwable e) {
                if (recorder != null) {
                    latency.remove(recorder);
                }
                throw e;
            }
            joinChange(session);
            return session;
        } finally {
            openings.readLock().unlock();
        }
    }

    /**
     * Whoever opens a session while the configuration changes prepares it: else new ones could keep the change from
     * coming to an end.
     */
    private void joinChange(Session session) {
        if (changing != null) {
            try {
                changing.prepare(session);
            } catch (Throwable e) {
                end(session);
                throw e;
            }
        }
    }

    private Session begin(Session session, DataPath path) {
        connect(path);
        session.use(path);
        sessions.add(session);
        loseLost(List.of(session));
        return session;
    }

    /** What sessions have of servers that were lost before whoever fails that could see it. */
    private void loseLost(List<Session> unseen) {
        for (RemoteServer server : servers) {
            if (server.lost() != null) {
                unseen.forEach(session -> session.lose(server));
            }
        }
    }

    /** To all servers. */
    private void connect(DataPath path) {
        try {
            for (RemoteServer server : servers) {
                connectOrLose(path.links(), server);
            }
        } catch (Throwable e) {
            Closing.after(e, path);
            throw e;
        }
    }

    /** How requests travel now. */
    public CacheConfiguration configuration() {
        return paths.configuration();
    }

    /**
     * Changes how requests travel, while the cache is used. Every session is given what the new configuration needs,
     * takes no requests for a moment (as if its queue were full) until those that it has are called back, and goes on
     * the new way. No request is lost or done twice. A migration is waited for.
     *
     * @throws IllegalArgumentException where the device cannot do it
     * @throws CacheException where it cannot be done: a server refuses, or a session has requests pending and its
     *     thread polls for none of them for {@value Reconfiguration#QUIET_SECONDS} seconds. Nothing has changed then
     */
    public void reconfigure(CacheConfiguration how) {
        checkOpen();
        checkDepth(how);
        moving.lock();
        try {
            checkOpen();
            DataPaths previous = paths;
            try (Reconfiguration change =
                    new Reconfiguration(previous, new DataPaths(inside, device, table, options, how), this::connect)) {
                try {
                    beginChange(change).forEach(change::prepare);
                    change.awaitQuiet();
                    performChange(change);
                } finally {
                    endChange();
                }
            } catch (VerbsException | ControlException e) {
                throw new CacheException(
                        "the configuration stays " + previous.configuration() + ": " + e.getMessage(), e);
            }
        } finally {
            moving.unlock();
        }
    }

    /** @return the sessions to prepare; those that are opened from now on are prepared by whoever opens them */
    private List<Session> beginChange(Reconfiguration change) {
        openings.writeLock().lock();
        try {
            changing = change;
            return sessions.stream().filter(session -> !session.worker()).toList();
        } finally {
            openings.writeLock().unlock();
        }
    }

    private void performChange(Reconfiguration change) {
        openings.writeLock().lock();
        try {
            paths = change.perform();
            changing = null;
        } finally {
            openings.writeLock().unlock();
        }
        // Before they go on.
        loseLost(sessions);
    }

    private void endChange() {
        openings.writeLock().lock();
        try {
            changing = null;
        } finally {
            openings.writeLock().unlock();
        }
    }

    /**
     * Changes what the cache is to do, while it is used: it runs with the cheapest configuration that its model says
     * will do that, and is compared with it from now on. With a manager, that says with which configuration, and the
     * cache moves off servers that cannot serve it. The application then uses as many sessions as {@link #explanation}
     * says.
     *
     * @return why it is that configuration
     * @throws io.farheap.slo.InfeasibleSloException where no configuration does that. Nothing has changed then
     * @throws IllegalStateException where the cache was created without an objective
     * @throws CacheException as {@link #reconfigure}
     */
    public Explanation reshape(Slo objective) {
        return reshaping.to(objective);
    }

    /**
     * Looks for another configuration for the objective that the cache has, because it misses it: as {@link #reshape},
     * with a margin that is larger by what predictions for the present one were better than what it did when it last
     * missed it.
     */
    public Explanation retune() {
        return reshaping.retune();
    }

    /**
     * Changes the capacity, while the cache is used (Redy, table 1): to grow takes regions of its servers, the last one
     * first, or of others that its manager finds, to which all of it moves where that costs less; to shrink gives whole
     * regions back. No request to what stays waits. What is new is zero, also where it was there before. Requests
     * beyond the new end are refused once the cache is smaller; those that were issued before end as they are. A
     * migration or another change is waited for.
     *
     * @param bytes at least 1
     * @throws CacheException where there are not enough regions, a server or the manager refuses, or a session has
     *     requests pending beyond the new end and its thread polls for none of them for {@value Resizing#QUIET_SECONDS}
     *     seconds. The capacity and the content are as before then
     */
    public void reshape(long bytes) {
        reshaping.to(bytes);
    }

    /**
     * Changes capacity and objective, or neither: as {@link #reshape(long)} and {@link #reshape(Slo)}.
     *
     * @return why the cache has the configuration that it has now
     */
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

    /**
     * A facade of futures over a session and a thread of its own, for those who prefer comfort. It is closed with the
     * cache.
     */
    public FutureSession openFutureSession() {
        FutureSession session =
                new FutureSession(openSession(), options.name(), this::refuseInCallback, futures::remove);
        futures.add(session);
        return session;
    }

    /**
     * Registered memory for requests without a copy. Each call maps memory of its own, so take one large buffer and cut
     * it.
     *
     * @param bytes rounded up to whole pages
     */
    public Buffer allocate(long bytes) {
        topology.lock();
        try {
            checkOpen();
            Buffer buffer = new Buffer(
                    inside, RegisteredMemory.allocate(device.domain(), "farheap-buffer", bytes, Access.LOCAL_WRITE));
            buffers.add(buffer);
            return buffer;
        } finally {
            topology.unlock();
        }
    }

    /** Latencies of all sessions; empty where the cache was built without {@link CacheBuilder#trackLatency}. */
    public LatencyTracker latency() {
        return latency;
    }

    /** Why the cache runs with its configuration; empty where it was created without an objective. */
    public Optional<Explanation> explanation() {
        return watch == null ? Optional.empty() : Optional.of(watch.explanation());
    }

    /**
     * What the cache did in the last period that is over, beside its objective; empty where it has none, or no period
     * is over.
     */
    public Optional<SloReport> sloReport() {
        return watch == null ? Optional.empty() : watch.last();
    }

    /** In how many periods the cache has missed its objective; 0 where it has none. */
    public long sloMissed() {
        return watch == null ? 0 : watch.missed();
    }

    /** The client's name in servers' logs, thread names and metrics. */
    public String name() {
        return options.name();
    }

    /**
     * By which the cache's manager knows it.
     *
     * @throws IllegalStateException where it has none
     */
    public long id() {
        management();
        return options.cacheId();
    }

    /**
     * The cache is needed for longer than was said when it was created; see {@link CacheBuilder#onExpiring}.
     *
     * @param likely from now; null for ever
     * @throws CacheException where its manager does not answer
     * @throws IllegalStateException where it has none
     */
    public void extend(@Nullable Duration likely) {
        management().extend(likely);
    }

    private Management management() {
        Management management = options.management();
        if (management == null) {
            throw new IllegalStateException(
                    "the cache has servers by address, and so no manager that knows it by an id");
        }
        return management;
    }

    /** Servers that the cache uses, as HOST:PORT. */
    public List<String> servers() {
        return servers.stream().map(RemoteServer::address).toList();
    }

    /**
     * Adds a server for regions to move to.
     *
     * @throws CacheException where it cannot be reached, or its regions have another size
     */
    public void addServer(String address) {
        checkOpen();
        moving.lock();
        try {
            checkOpen();
            RemoteServer server = attach(address);
            try {
                RegionPlacement.checkRegionSize(server, table.regionBytes());
                add(server).forEach(session -> session.connect(server));
            } catch (Throwable e) {
                detach(server);
                throw e;
            }
            servers.stream()
                    .filter(before ->
                            before.address().equals(address) && before.lost() != null && moves.regionsOf(before) == 0)
                    .toList()
                    .forEach(this::detach);
        } catch (ControlException e) {
            throw new CacheException("cannot use memory server " + address + ": " + e.getMessage(), e);
        } finally {
            moving.unlock();
        }
    }

    /** @return the sessions to connect to it; those that are opened from now on do that themselves */
    private List<Session> add(RemoteServer server) {
        openings.writeLock().lock();
        try {
            servers.add(server);
            return List.copyOf(sessions);
        } finally {
            openings.writeLock().unlock();
        }
    }

    /**
     * Moves one region, as {@link #migrate(List, String, MigrationOptions)} with the cache's
     * {@linkplain CacheBuilder#migration options}.
     */
    public MigrationResult migrate(int region, String to) {
        return migrate(List.of(region), to, options.migration());
    }

    /**
     * Moves regions, one by one, while the cache is used.
     *
     * @param regions from 0 to {@link #regions}, exclusive
     * @param to HOST:PORT of a server that the cache uses or, with a manager, of any that the manager has
     * @throws CacheException where a server or the manager refuses or does not answer. Regions before that one have
     *     moved, those after it have not. Of itself, the chunks that had moved are in the new place, the others in the
     *     old one: it can be used, and moved again. A part of it whose server is lost is lost with that.
     */
    public MigrationResult migrate(List<Integer> regions, String to, MigrationOptions how) {
        if (options.management() == null) {
            return move(regions, to, how);
        }
        checkOpen();
        long missing = inside.unmoved(() -> {
            moves.check(regions);
            return regions.stream()
                    .filter(region ->
                            !table.get(region).copy().server().address().equals(to))
                    .count();
        });
        if (missing > 0) {
            options.management().reserve(inside, to, (int) missing);
        }
        try {
            return move(regions, to, how);
        } finally {
            tellManager();
        }
    }

    private MigrationResult move(List<Integer> regions, String to, MigrationOptions how) {
        checkOpen();
        moving.lock();
        try {
            checkOpen();
            // Not before: the cache may have become smaller meanwhile.
            moves.check(regions);
            return moves.toServer(regions, server(to), how);
        } finally {
            moving.unlock();
        }
    }

    /** On the first of the cache's other servers that the manager says has room for all. */
    private void reserveElsewhere(String address) {
        checkOpen();
        RemoteServer source = server(address);
        int regions = moves.regionsOf(source);
        CacheException refused = null;
        for (RemoteServer other : regions == 0 ? List.<RemoteServer>of() : servers) {
            if (other != source) {
                try {
                    management().reserve(inside, other.address(), regions);
                    return;
                } catch (CacheException e) {
                    refused = e;
                }
            }
        }
        if (refused != null) {
            throw refused;
        }
    }

    private void tellManager() {
        if (options.management() != null) {
            options.management().tellNow(inside);
        }
    }

    /**
     * As {@link #retire(String, MigrationOptions, Consumer)} with the cache's {@linkplain CacheBuilder#migration
     * options}.
     */
    public MigrationResult retire(String address, Consumer<MigrationResult> moved) {
        return retire(address, options.migration(), moved);
    }

    /**
     * Moves all regions off a server, one by one, to those of the others that have most room, and gives its lease back.
     *
     * @param address HOST:PORT
     * @param moved told of each region that has moved
     * @throws CacheException as {@link #migrate(List, String, MigrationOptions)}
     */
    public MigrationResult retire(String address, MigrationOptions how, Consumer<MigrationResult> moved) {
        if (options.management() != null) {
            reserveElsewhere(address);
        }
        try {
            return leave(address, how, moved);
        } finally {
            tellManager();
        }
    }

    private MigrationResult leave(String address, MigrationOptions how, Consumer<MigrationResult> moved) {
        checkOpen();
        moving.lock();
        try {
            checkOpen();
            RemoteServer source = server(address);
            MigrationResult total = moves.offServer(source, how, moved);
            detach(source);
            return total;
        } finally {
            moving.unlock();
        }
    }

    /** As {@link #close}: Redy's name for it. */
    public void delete() {
        close();
    }

    /**
     * Closes all sessions and gives all memory back. Requests that are pending in sessions of other threads are not
     * called back; the next use of such a session throws. Buffers that are still open are closed. Idempotent.
     */
    @Override
    public void close() {
        try {
            closeAll();
        } finally {
            if (deleted && options.management() != null) {
                options.management().close();
            }
        }
    }

    private void closeAll() {
        refuseInCallback();
        futures.forEach(FutureSession::close);
        moving.lock();
        try (CloseStack everything = new CloseStack()) {
            openings.writeLock().lock();
            topology.lock();
            try {
                if (deleted) {
                    return;
                }
                deleted = true;
            } finally {
                topology.unlock();
                openings.writeLock().unlock();
            }
            everything.add(device);
            if (watch != null) {
                everything.add(watch);
            }
            servers.forEach(everything::add);
            everything.add(this::freeBuffers);
            sessions.forEach(session -> everything.add(session::destroy));
            everything.add(paths::stop);
            sessions.clear();
        } finally {
            moving.unlock();
        }
    }

    private void freeBuffers() {
        topology.lock();
        try {
            buffers.forEach(buffer -> buffer.closed(true));
            Closing.all(
                    buffers.stream().<AutoCloseable>map(buffer -> buffer::free).toList());
            buffers.clear();
        } finally {
            topology.unlock();
        }
    }

    CacheDevice device() {
        return device;
    }

    RegionTable table() {
        return table;
    }

    private void end(Session session) {
        // Migrations must see it until nothing that it posted can take effect any more.
        try {
            session.destroy();
        } finally {
            sessions.remove(session);
            Reconfiguration change = changing;
            if (change != null) {
                change.forget(session);
            }
        }
    }

    private void end(Buffer buffer) {
        refuseInCallback();
        topology.lock();
        try {
            if (!buffers.contains(buffer)) {
                return;
            }
            buffer.closed(true);
            for (Session session : sessions) {
                if (session.uses(buffer)) {
                    buffer.closed(false);
                    throw new IllegalStateException(
                            "a request that uses the buffer has not finished; poll its session until it has");
                }
            }
            buffers.remove(buffer);
            buffer.free();
        } finally {
            topology.unlock();
        }
    }

    /** A server that is gone takes its own regions along, not the session's others. */
    private void connectOrLose(Links links, RemoteServer server) {
        try {
            links.connect(server);
        } catch (ControlException e) {
            tolerate(server, e);
        }
    }

    private static void tolerate(RemoteServer server, ControlException e) {
        switch (e.code()) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, LEASE_EXPIRED -> {}
            default -> throw new CacheException("cannot connect a session to " + server + ": " + e.getMessage(), e);
        }
    }

    private RemoteServer attach(String address) {
        Management management = options.management();
        try {
            return management == null
                    ? attach(address, SignedGrant.NONE)
                    : management.granted(address, grant -> attach(address, grant));
        } catch (ControlException e) {
            throw new CacheException("cannot use memory server " + address + ": " + e.getMessage(), e);
        }
    }

    private RemoteServer attach(String address, SignedGrant grant) {
        return RemoteServer.attach(
                address,
                nextServerIndex++,
                device.domain(),
                options.name(),
                options.cacheId(),
                grant,
                this::lost,
                device.lifetime()::closesLater);
    }

    /** On a thread of that server's: another that is lost waits for nobody here. */
    private void lost(RemoteServer server, ControlException cause) {
        // Each by itself: one that is long in a callback must not keep the others' requests waiting.
        List<Thread> losing = sessions.stream()
                .map(session -> Thread.ofVirtual().start(() -> lose(session, server)))
                .toList();
        losing.forEach(Joining::join);
        LostServerListener listener = options.lostListener();
        if (listener != null && !deleted) {
            Management management = options.management();
            String ended = management == null ? null : management.endedWhy();
            listener.serverLost(
                    server.address(),
                    ended == null ? cause.getMessage() : ended,
                    moves == null ? 0 : moves.regionsOf(server));
        }
    }

    private static void lose(Session session, RemoteServer server) {
        try {
            session.lose(server);
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "cannot fail a session's connections to lost memory server " + server,
                    e);
        }
    }

    private void detach(RemoteServer server) {
        openings.writeLock().lock();
        try {
            servers.remove(server);
        } finally {
            openings.writeLock().unlock();
        }
        try {
            sessions.forEach(session -> session.disconnect(server));
        } finally {
            server.close();
        }
    }

    /** One whose lease holds before one that is lost, which may have been started anew at its address. */
    private RemoteServer server(String address) {
        RemoteServer lost = null;
        for (RemoteServer server : servers) {
            if (server.address().equals(address)) {
                if (server.lost() == null) {
                    return server;
                }
                lost = server;
            }
        }
        if (lost != null) {
            return lost;
        }
        throw new CacheException("the cache does not use server " + address + "; it uses " + servers());
    }

    private void load(Path file) {
        Session session = openSession();
        try (FileLoader loader = new FileLoader(capacity(), session, this::allocate)) {
            loader.load(file, options.loaded());
        } finally {
            session.close();
        }
    }

    private void checkOpen() {
        refuseInCallback();
        if (deleted) {
            throw new IllegalStateException("the cache is deleted");
        }
    }

    /**
     * A callback is inside its session's gate: what claims gates, or waits for somebody who does, would wait for ever.
     */
    void refuseInCallback() {
        for (Session session : sessions) {
            session.refuseInCallback();
        }
    }

    /** The cache, as its sessions, its buffers and its data paths know it: they are not to know what else it is. */
    private final class Inside implements Session.Owner, DataPaths.Owner, Reshaping.Owner {

        @Override
        public RegionTable table() {
            return table;
        }

        @Override
        public long capacity() {
            return table.capacity();
        }

        @Override
        public void checkOpen() {
            Cache.this.checkOpen();
        }

        @Override
        public CacheConfiguration configuration() {
            return Cache.this.configuration();
        }

        @Override
        public void reconfigure(CacheConfiguration how) {
            Cache.this.reconfigure(how);
        }

        @Override
        public LatencyTracker latency() {
            return latency;
        }

        @Override
        public CompletionEvents events() {
            return device.events();
        }

        /** It may use all of the last region, also what no other session may. */
        @Override
        public Session openInternalSession() {
            Session session = new Session(this, null, true);
            return begin(session, paths.open(session, null));
        }

        @Override
        public void refuseInCallback() {
            Cache.this.refuseInCallback();
        }

        @Override
        public void close(Session session) {
            end(session);
        }

        @Override
        public void close(Buffer buffer) {
            end(buffer);
        }

        @Override
        public void loseAll(Session session) {
            servers.forEach(session::lose);
        }

        /** Its caller changes the configuration, and so keeps servers from coming and going. */
        @Override
        public Session openWorkerSession(DataPaths owner) {
            Session session = new Session(this, null, true);
            return begin(session, owner.own(session, null));
        }

        @Override
        public void reconnect(Session worker) {
            for (RemoteServer server : servers) {
                try {
                    worker.participant().ensureConnected(server);
                } catch (ControlException e) {
                    tolerate(server, e);
                }
            }
        }

        @Override
        public List<String> servers() {
            return Cache.this.servers();
        }

        @Override
        public int regions() {
            return Cache.this.regions();
        }

        @Override
        public <T> T unmoved(Supplier<T> action) {
            moving.lock();
            try {
                return action.get();
            } finally {
                moving.unlock();
            }
        }

        @Override
        public List<RemoteRegion> take(String address, int regions) {
            return RegionPlacement.grant(server(address), regions);
        }

        @Override
        public String serverOf(int region) {
            return Cache.this.serverOf(region);
        }

        @Override
        public List<Integer> hottestFirst(List<Integer> regions) {
            return RegionHeat.hottestFirst(regions, table, heat -> sessions.forEach(session -> session.sample(heat)));
        }

        @Override
        public boolean uses(int region, String address) {
            for (RemoteServer server : servers) {
                if (server.address().equals(address) && table.get(region).uses(server)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public void doubt(String address) {
            for (RemoteServer server : servers) {
                if (server.address().equals(address)) {
                    server.doubt();
                }
            }
        }

        @Override
        public boolean serves(String address) {
            return servers.stream().anyMatch(server -> server.address().equals(address) && server.lost() == null);
        }

        @Override
        public void showGrant(String address, SignedGrant grant) {
            server(address).showGrant(grant);
        }

        @Override
        public void addServer(String address) {
            Cache.this.addServer(address);
        }

        @Override
        public MigrationResult migrate(List<Integer> regions, String from, String to, MigrationOptions how) {
            return unmoved(() -> {
                checkOpen();
                moves.check(regions);
                return moves.leave(server(from), regions, server(to), how);
            });
        }

        @Override
        public void stay() {
            unmoved(() -> {
                moves.stay();
                return true;
            });
        }

        @Override
        public void retire(String address) {
            leave(address, options.migration(), moved -> {});
        }
    }
}
