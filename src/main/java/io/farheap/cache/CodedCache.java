package io.farheap.cache;

import io.farheap.cache.calls.CallHost;
import io.farheap.cache.coded.CodedServers;
import io.farheap.cache.coded.SlabMoves;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.move.MoveNotifier;
import io.farheap.cache.objective.SloWatch;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.paths.DataPaths;
import io.farheap.cache.session.DataPath;
import io.farheap.cache.session.SessionCore;
import io.farheap.control.ControlException;
import io.farheap.latency.LatencyTracker;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.migration.region.AddressLimit;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.CompletionEvents;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.verbs.Context;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A cache whose pages are coded over several servers ({@code resilience}), on a {@link RemoteMemory} of its own. */
final class CodedCache extends Cache {

    private final CodedCacheHost inside = new CodedCacheHost();
    private final AddressLimit capacity;
    private final RemoteMemory memory;
    /** Null for a thread that is notified of a lost server while the constructor runs. */
    private final CodedServers servers;

    private final DataPaths paths;
    /** Null if it has no objective. */
    private final @Nullable SloWatch watch;
    /** Held by the thread that raises the capacity or takes a server out. A close does not wait for it. */
    private final ReentrantLock changing = new ReentrantLock();

    private final MoveNotifier news = new MoveNotifier(changing);
    /** Held by the thread that closes the cache: another one waits. */
    private final ReentrantLock ending = new ReentrantLock();

    CodedCache(CacheOptions options, Resilience resilience) {
        super(options);
        capacity = new AddressLimit(options.capacity());
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(RemoteMemory.open(options.device(), options.name(), this::lost));
            if (options.tuning() != null) {
                options.tuning().check(memory.context());
            }
            servers = stack.add(new CodedServers(
                    memory, options.servers(), resilience, options.capacity(), options.healthListener()));
            paths = stack.add(new DataPaths(
                    inside, memory.context().device().name(), options.session(), options.configuration()));
            load();
            watch = SloWatch.of(options.name(), options.tuning(), latency);
            stack.keep();
        }
    }

    /** On a thread of its own. */
    private void lost(RemoteServer server) {
        LostServerListener listener = options.lostListener();
        ControlException cause = server.lost();
        if (listener != null && cause != null && !deleted()) {
            listener.serverLost(
                    server.address(),
                    String.valueOf(cause.getMessage()),
                    servers == null ? 0 : servers.space().lostWith(server));
        }
    }

    @Override
    public long capacity() {
        return capacity.bytes();
    }

    @Override
    public Context context() {
        return memory.context();
    }

    @Override
    public long regionBytes() {
        return servers.space().slabBytes();
    }

    @Override
    public int regions() {
        return servers.space().slabs();
    }

    @Override
    public String serverOf(int region) {
        return servers.space().serverOf(region).address();
    }

    @Override
    public long movedBytes(int region) {
        return 0;
    }

    @Override
    public CacheConfiguration configuration() {
        return options.configuration();
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
        refuseInListener();
        checkOpen();
        try {
            servers.add(address);
        } catch (ControlException e) {
            checkOpen();
            throw new CacheException(
                    "not all sessions reach memory server " + address + " yet, they will try again: " + e.getMessage(),
                    e);
        }
        servers.forgetLost(address);
    }

    @Override
    public MigrationResult retire(String address, MigrationOptions how, Consumer<MigrationResult> moved) {
        refuseInListener();
        checkOpen();
        SlabMoves moves = new SlabMoves(servers.space().slabBytes(), result -> news.tell(moved, result));
        changing.lock();
        try {
            servers.retire(address, moves::one);
        } catch (IllegalStateException e) {
            throw new CacheException(String.valueOf(e.getMessage()), e);
        } finally {
            changing.unlock();
        }
        return moves.total();
    }

    @Override
    public void reshape(long bytes) {
        refuseInListener();
        checkOpen();
        changing.lock();
        try {
            checkOpen();
            if (bytes < capacity.bytes()) {
                throw new UnsupportedOperationException("a coded cache does not become smaller: it has "
                        + capacity.bytes() + " bytes, and " + bytes + " are wanted; create another");
            }
            servers.space().grow(bytes);
            capacity.set(bytes);
        } catch (IllegalArgumentException | ControlException e) {
            checkOpen();
            throw new CacheException("the cache stays as it is: " + e.getMessage(), e);
        } finally {
            changing.unlock();
        }
    }

    @Override
    public Health health() {
        return servers.space().health();
    }

    @Override
    SessionCore open(@Nullable OperationLatency recorder) {
        // Connect first, before the lock: it takes as long as the servers take to answer, and neither other threads nor
        // a close wait for it.
        RemoteQueue connected = configuration().clientThreads() > 0 ? null : connect();
        openings.readLock().lock();
        try (CloseStack stack = new CloseStack()) {
            if (connected != null) {
                stack.add(connected);
            }
            checkOpen();
            SessionCore session = new SessionCore(inside, capacity, recorder, false);
            session.dataPath.use(
                    stack.add(connected == null ? paths.open(session, recorder) : path(connected, recorder)));
            sessions.add(session);
            stack.keep();
            return session;
        } finally {
            openings.readLock().unlock();
        }
    }

    private RemoteQueue connect() {
        try {
            return servers.connect();
        } catch (RuntimeException e) {
            // If the cache is being closed, throw that instead.
            checkOpen();
            throw e;
        }
    }

    private DataPath path(RemoteQueue connected, @Nullable OperationLatency recorder) {
        return servers.path(connected, recorder, options.session().requests());
    }

    @Override
    Buffer register(long bytes) {
        return buffer(memory.register(bytes));
    }

    @Override
    Buffer wrap(MemorySegment segment) {
        return buffer(memory.register(segment));
    }

    private Buffer buffer(RegisteredBuffer buffer) {
        return new Buffer(inside, buffer.segment(), 0, buffer);
    }

    @Override
    void beginClosing() {
        servers.space().beginClosing();
    }

    @Override
    void refuseInListener() {
        news.refuseInListener();
    }

    @Override
    void end() {
        ending.lock();
        try (CloseStack everything = new CloseStack()) {
            if (beginEnd()) {
                everything.add(memory);
                everything.add(servers);
                endSessions(everything);
                everything.add(paths::stop);
                if (watch != null) {
                    everything.add(watch);
                }
            }
        } finally {
            ending.unlock();
        }
    }

    private void end(SessionCore session) {
        try {
            session.lifeCycle.destroy();
        } finally {
            sessions.remove(session);
        }
    }

    private final class CodedCacheHost implements SessionCore.Owner, DataPaths.DataPathHost {

        @Override
        public CallHost calls() {
            procedures();
            throw new IllegalStateException("a coded cache has no procedures");
        }

        @Override
        public LatencyTracker latency() {
            return latency;
        }

        /** The sessions' queues have their own. */
        @Override
        public @Nullable CompletionEvents events() {
            return null;
        }

        @Override
        public void refuseInCallback() {
            CodedCache.this.refuseInCallback();
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
        public DataPath ownPath(SessionCore session, @Nullable OperationLatency recorder, CacheConfiguration how) {
            return path(servers.connect(), recorder);
        }

        /** Nothing moves. */
        @Override
        public boolean holds(boolean write, long address, long length) {
            return false;
        }

        @Override
        public SessionCore openWorkerSession(DataPaths owner) {
            SessionCore session = new SessionCore(this, capacity, null, true);
            session.dataPath.use(owner.own(session, null));
            sessions.add(session);
            return session;
        }

        /** The space's sessions reconnect by themselves. */
        @Override
        public void reconnect(SessionCore worker) {}

        /**
         * The session's client thread is dead. The space finishes its writes, and then other sessions may write those
         * pages.
         */
        @Override
        public void loseAll(SessionCore session) {
            session.lifeCycle.destroy();
        }

        @Override
        public String describeLoss(long address, long length) {
            List<String> gone = memory.servers().stream()
                    .filter(server -> server.lost() != null)
                    .map(RemoteServer::address)
                    .toList();
            return CodedStatus.describe(CodedStatus.LOST) + (gone.isEmpty() ? "" : " (gone: " + gone + ")")
                    + "; close this cache, create another and fill it again, with more parity splits if so many "
                    + "servers may be lost at once";
        }
    }
}
