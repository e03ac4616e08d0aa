package io.farheap.cache;

import io.farheap.control.ControlException;
import io.farheap.latency.LatencyTracker;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.migration.Capacity;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.remote.CompletionEvents;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.RemoteServer;
import io.farheap.resilience.CodedSession;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.Health;
import io.farheap.resilience.Resilience;
import io.farheap.verbs.Context;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A cache whose pages are coded over several servers ({@code resilience}), on a {@link RemoteMemory} of its own. */
final class CodedCache extends Cache {

    private final Inside inside = new Inside();
    private final Capacity capacity;
    private final RemoteMemory memory;
    /** Null for who is told of a lost server before it is there. */
    private final CodedSpace space;

    private final DataPaths paths;
    /** Null where it has no objective. */
    private final @Nullable SloWatch watch;
    /** Held by the thread that raises the capacity or takes a server out. A close does not wait for it. */
    private final ReentrantLock changing = new ReentrantLock();

    private final MoveNews news = new MoveNews(changing);
    /** Held by who closes it: another waits. */
    private final ReentrantLock ending = new ReentrantLock();

    CodedCache(CacheOptions options, Resilience resilience) {
        super(options);
        capacity = new Capacity(options.capacity());
        try (CloseStack stack = new CloseStack()) {
            memory = stack.add(RemoteMemory.open(options.device(), options.name(), this::lost));
            if (options.tuning() != null) {
                options.tuning().check(memory.context());
            }
            options.servers().forEach(this::attach);
            space = stack.add(calling(() -> CodedSpace.create(
                    memory, resilience, options.capacity(), RemoteServer::domain, options.healthListener())));
            paths = stack.add(new DataPaths(
                    inside, memory.context().device().name(), options.session(), options.configuration()));
            load();
            watch = SloWatch.of(options.name(), options.tuning(), latency);
            stack.keep();
        }
    }

    private RemoteServer attach(String address) {
        RemoteServer server;
        try {
            server = memory.attach(address);
        } catch (ControlException e) {
            throw new CacheException("cannot use memory server " + address + ": " + e.getMessage(), e);
        }
        try {
            CacheServers.refuseTwice(memory.servers(), server);
            return server;
        } catch (CacheException e) {
            memory.detach(server);
            throw e;
        }
    }

    private static <T> T calling(Supplier<T> servers) {
        try {
            return servers.get();
        } catch (ControlException e) {
            throw new CacheException("a memory server refuses: " + e.getMessage(), e);
        }
    }

    /** On a thread of its own. */
    private void lost(RemoteServer server) {
        LostServerListener listener = options.lostListener();
        ControlException cause = server.lost();
        if (listener != null && cause != null && !deleted()) {
            listener.serverLost(
                    server.address(), String.valueOf(cause.getMessage()), space == null ? 0 : space.slabsAt(server));
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
        return space.slabBytes();
    }

    @Override
    public int regions() {
        return space.slabs();
    }

    @Override
    public String serverOf(int region) {
        return space.serverOf(region).address();
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
        return memory.servers().stream().map(RemoteServer::address).toList();
    }

    @Override
    public void addServer(String address) {
        refuseInListener();
        checkOpen();
        try {
            RemoteServer server = attach(address);
            if (server.description().regionBytes() < space.slabBytes()) {
                // No slab has been placed there: it is too small.
                memory.detach(server);
                throw new CacheException("memory server " + address + " has regions of "
                        + server.description().regionBytes() + " bytes, smaller than the cache's slabs of "
                        + space.slabBytes());
            }
            // What cannot be connected now is later, by whoever has a slab there or needs one.
            memory.connectQueues(server);
        } catch (ControlException e) {
            checkOpen();
            throw new CacheException(
                    "not all sessions reach memory server " + address + " yet, they will try again: " + e.getMessage(),
                    e);
        }
        forgetLost(address);
    }

    @Override
    public MigrationResult retire(String address, MigrationOptions how, Consumer<MigrationResult> moved) {
        refuseInListener();
        checkOpen();
        SlabMoves moves = new SlabMoves(space.slabBytes(), result -> news.tell(moved, result));
        changing.lock();
        try {
            RemoteServer server = CacheServers.get(memory.servers(), address);
            space.retire(server, moves::one);
            memory.detach(server);
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
            space.grow(bytes);
            capacity.set(bytes);
        } catch (IllegalArgumentException | ControlException e) {
            checkOpen();
            throw new CacheException("the cache stays as it is: " + e.getMessage(), e);
        } finally {
            changing.unlock();
        }
    }

    /** Tells of slabs that have moved, one after the other. */
    private static final class SlabMoves {
        private final long slabBytes;
        private final Consumer<MigrationResult> told;
        private long since = System.nanoTime();
        private MigrationResult total = MigrationResult.NONE;

        SlabMoves(long slabBytes, Consumer<MigrationResult> told) {
            this.slabBytes = slabBytes;
            this.told = told;
        }

        void one() {
            long now = System.nanoTime();
            MigrationResult moved = new MigrationResult(1, slabBytes, now - since, now - since, 0);
            since = now;
            total = total.plus(moved);
            told.accept(moved);
        }

        MigrationResult total() {
            return total;
        }
    }

    /** Those that were at the address of one that is there now. */
    private void forgetLost(String address) {
        memory.servers().stream()
                .filter(server ->
                        server.address().equals(address) && server.lost() != null && space.slabsAt(server) == 0)
                .forEach(memory::detach);
    }

    @Override
    public Health health() {
        return space.health();
    }

    @Override
    BlockingRequests open(@Nullable OperationLatency recorder) {
        // First, as it takes as long as servers take to answer: nothing else waits for that, nor does a close.
        RemoteQueue connected = configuration().clientThreads() > 0 ? null : connect();
        openings.readLock().lock();
        try (CloseStack stack = new CloseStack()) {
            if (connected != null) {
                stack.add(connected);
            }
            checkOpen();
            BlockingRequests session = new BlockingRequests(inside, capacity, recorder, false);
            session.use(stack.add(connected == null ? paths.open(session, recorder) : path(connected, recorder)));
            sessions.add(session);
            stack.keep();
            return session;
        } finally {
            openings.readLock().unlock();
        }
    }

    private RemoteQueue connect() {
        try {
            return calling(space::connect);
        } catch (RuntimeException e) {
            // If the cache was being closed, that is why.
            checkOpen();
            throw e;
        }
    }

    private DataPath path(RemoteQueue connected, @Nullable OperationLatency recorder) {
        try (CloseStack stack = new CloseStack()) {
            CodedSession coded = stack.add(space.openSession(options.session().requests(), connected));
            CodedPath path = new CodedPath(coded, recorder, options.session().requests());
            DataPath made = new DataPath(path, Links.NONE, null, path::close, ignored -> {});
            stack.keep();
            return made;
        }
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
        space.beginClosing();
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
                everything.add(space);
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

    private void end(BlockingRequests session) {
        try {
            session.destroy();
        } finally {
            sessions.remove(session);
        }
    }

    private final class Inside implements BlockingRequests.Owner, DataPaths.Owner {

        @Override
        public CallingCache calls() {
            procedures();
            throw new IllegalStateException("a coded cache has no procedures");
        }

        @Override
        public LatencyTracker latency() {
            return latency;
        }

        /** Sessions' queues have their own. */
        @Override
        public @Nullable CompletionEvents events() {
            return null;
        }

        @Override
        public void refuseInCallback() {
            CodedCache.this.refuseInCallback();
        }

        @Override
        public void close(BlockingRequests session) {
            end(session);
        }

        @Override
        public void close(RequestBuffer buffer) {
            end(buffer);
        }

        @Override
        public DataPath ownPath(BlockingRequests session, @Nullable OperationLatency recorder, CacheConfiguration how) {
            return path(calling(space::connect), recorder);
        }

        /** Nothing moves. */
        @Override
        public boolean holds(boolean write, long address, long length) {
            return false;
        }

        @Override
        public BlockingRequests openWorkerSession(DataPaths owner) {
            BlockingRequests session = new BlockingRequests(this, capacity, null, true);
            session.use(owner.own(session, null));
            sessions.add(session);
            return session;
        }

        /** The space's sessions connect anew by themselves. */
        @Override
        public void reconnect(BlockingRequests worker) {}

        /**
         * Its client thread is dead: what it was writing goes on in the space, and others may write those pages then.
         */
        @Override
        public void loseAll(BlockingRequests session) {
            session.destroy();
        }
    }
}
