package io.farheap.cache;

import io.farheap.cache.calls.CallTally;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.CallCounts;
import io.farheap.cache.contract.SloReport;
import io.farheap.cache.managed.ManagedCacheClient;
import io.farheap.cache.move.CacheResizer;
import io.farheap.cache.objective.SloWatch;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.paths.Reconfiguration;
import io.farheap.cache.session.SessionCore;
import io.farheap.latency.LatencyTracker;
import io.farheap.latency.LatencyTracking;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.MigrationOptions;
import io.farheap.migration.MigrationResult;
import io.farheap.resilience.contract.Health;
import io.farheap.slo.Explanation;
import io.farheap.slo.Slo;
import io.farheap.verbs.Context;
import java.lang.foreign.MemorySegment;
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
 *
 * <p>A cache with {@link CacheBuilder#resilience} survives the loss of servers: its pages are coded over several, and
 * lost parts are regenerated (Hydra). It has no regions to move; methods that it does not support throw
 * {@link UnsupportedOperationException}.
 */
public abstract sealed class Cache implements AutoCloseable permits RegionCache, CodedCache {

    final CacheOptions options;
    final LatencyTracker latency = new LatencyTracker();
    final List<SessionCore> sessions = new CopyOnWriteArrayList<>();
    /**
     * A thread that lists a new session holds the read lock; a thread that changes the servers, or the configuration of
     * new sessions, holds the write lock for a moment. Taken before {@code topology}.
     */
    final ReentrantReadWriteLock openings = new ReentrantReadWriteLock();

    private final Set<FutureCacheSession> futures = ConcurrentHashMap.newKeySet();
    private final Set<Buffer> buffers = ConcurrentHashMap.newKeySet();
    /** Guards the sets of buffers and sessions. Held for a short time: no server is called under it. */
    private final ReentrantLock topology = new ReentrantLock();
    /** Set with the write lock of {@code openings} held. */
    private volatile boolean deleted;

    Cache(CacheOptions options) {
        this.options = options;
    }

    /** Begins the creation of a cache. */
    public static CacheBuilder builder() {
        return new CacheBuilder();
    }

    /** Its size in bytes: addresses go from 0 to this, exclusive. */
    public abstract long capacity();

    /** The RDMA device in use. */
    public abstract Context context();

    /** The size in bytes of its regions, which move one by one; of a coded cache, of its slabs. */
    public abstract long regionBytes();

    /** How many regions it has; of a coded cache, slabs: those of one range of pages follow one another. */
    public abstract int regions();

    /** The server that has a region now, as HOST:PORT. If the region is moving, the server that has its beginning. */
    public abstract String serverOf(int region);

    /**
     * How many bytes of a region, from its beginning on, have moved to their destination, if it is moving or was moved
     * in part; 0 for a region in one place.
     */
    public abstract long movedBytes(int region);

    /**
     * Opens a session, which belongs to the first thread that uses it. It makes new connections to all servers; those
     * to servers that cannot be reached are made later, while requests to these wait
     * ({@link CacheBuilder#patience(java.time.Duration)}).
     *
     * @throws CacheException if a server refuses a connection
     * @throws IllegalStateException if the cache is closed, or a callback of one of its sessions calls this
     */
    public final CacheSession openSession() {
        checkOpen();
        OperationLatency recorder =
                options.latencyTracking() == LatencyTracking.NONE ? null : latency.newSource(options.latencyTracking());
        try {
            return new CacheSession(open(recorder));
        } catch (Throwable e) {
            if (recorder != null) {
                latency.remove(recorder);
            }
            throw e;
        }
    }

    /** Opens a session for the application. It calls {@link #checkOpen} with a lock of {@code openings} held. */
    abstract SessionCore open(@Nullable OperationLatency recorder);

    /**
     * Opens a session whose methods return futures, with a thread of its own: more comfortable and slower than
     * {@link #openSession}. It is closed with the cache.
     */
    public final FutureCacheSession openFutureSession() {
        FutureCacheSession session =
                new FutureCacheSession(openSession(), options.name(), this::refuseInCallback, futures::remove);
        futures.add(session);
        return session;
    }

    /**
     * Registered memory for requests without a copy (a coded cache's requests copy once). Each call maps memory of its
     * own, so take one large buffer and cut it.
     *
     * @param bytes at least 1, rounded up to whole pages
     * @throws IllegalArgumentException if this machine, or a control group of this process, has not enough room
     */
    public final Buffer allocate(long bytes) {
        return add(() -> register(bytes));
    }

    /**
     * Registers the caller's memory, for requests as with {@link #allocate}. The memory outlives the cache, and may be
     * registered with several. Closing the buffer, or the cache, ends the registration and does not free the memory.
     *
     * @param memory off-heap and writable; the caller keeps it alive until the buffer is closed
     * @throws IllegalArgumentException if it is on the heap, read-only or empty
     */
    public final Buffer register(MemorySegment memory) {
        if (!memory.isNative() || memory.isReadOnly() || memory.byteSize() == 0) {
            throw new IllegalArgumentException(
                    memory + " cannot be registered: take memory that is off-heap, writable and not empty");
        }
        return add(() -> wrap(memory));
    }

    private Buffer add(Supplier<Buffer> made) {
        topology.lock();
        try {
            checkOpen();
            Buffer buffer = made.get();
            buffers.add(buffer);
            return buffer;
        } finally {
            topology.unlock();
        }
    }

    abstract Buffer register(long bytes);

    abstract Buffer wrap(MemorySegment memory);

    /** Counts of the calls of procedures that the sessions of this process made; all 0 for a coded cache. */
    public CallCounts callCounts() {
        return new CallTally().now();
    }

    /** Latencies of all sessions; empty if the cache was built without {@link CacheBuilder#trackLatency}. */
    public final LatencyTracker latency() {
        return latency;
    }

    /** The client's name in servers' logs, thread names and metrics. */
    public final String name() {
        return options.name();
    }

    /**
     * The cache's procedures: code that runs on the servers, where the data is.
     *
     * @throws UnsupportedOperationException if the cache is coded: a server would see only splits of its pages
     */
    public Procedures procedures() {
        throw unsupported("have procedures: a server has parts of its pages alone");
    }

    /** How requests travel now: threads, batch size and queue depth. */
    public abstract CacheConfiguration configuration();

    /** Servers that the cache uses, as HOST:PORT. */
    public abstract List<String> servers();

    /**
     * Adds a server that regions can move to, or slabs can be placed on.
     *
     * @throws CacheException if it cannot be reached, is in use already under this or another address, or its regions
     *     have another size (for a coded cache: are smaller than a slab)
     */
    public abstract void addServer(String address);

    /**
     * The health of a coded cache: the state of its slabs, and how many more servers it may lose.
     *
     * @throws UnsupportedOperationException if it was built without {@link CacheBuilder#resilience}
     */
    public Health health() {
        throw new UnsupportedOperationException(
                "a cache without resilience has no health; create it with CacheBuilder.resilience");
    }

    /**
     * Changes how requests travel, while the cache is used. Each session gets the connections that the new
     * configuration needs, accepts no requests for a moment (as if its queue were full) until its pending ones have
     * been called back, and then uses the new configuration. No request is lost or executed twice. This method waits
     * for a migration that is under way.
     *
     * @throws IllegalArgumentException if the device does not support the configuration
     * @throws CacheException if a server refuses, or a session has requests pending and its thread does not poll for
     *     {@value Reconfiguration#QUIET_SECONDS} seconds. Nothing has changed then
     */
    public void reconfigure(CacheConfiguration how) {
        throw unsupported("change how its requests travel: create another");
    }

    /**
     * Changes the cache's objective, while it is used: the cache runs with the cheapest configuration that meets the
     * objective by its performance model, and its performance is compared with the new objective from now on. If the
     * cache has a manager, the manager chooses the configuration, and the cache moves off servers that cannot serve it.
     * The application should then use as many sessions as {@link #explanation} names.
     *
     * @return why the cache has that configuration
     * @throws io.farheap.slo.InfeasibleSloException if no configuration meets the objective. Nothing has changed then
     * @throws IllegalStateException if the cache was created without an objective
     * @throws CacheException as {@link #reconfigure}
     */
    public Explanation reshape(Slo objective) {
        throw unsupported("change its objective: create another");
    }

    /**
     * Looks for another configuration for the present objective, because the cache misses it: as {@link #reshape(Slo)},
     * with a larger margin. The margin grows by the share by which the model's prediction was better than the
     * performance at the last miss.
     *
     * @return why the cache has the new configuration
     */
    public Explanation retune() {
        throw unsupported("change its configuration: create another");
    }

    /**
     * Changes the capacity, while the cache is used (Redy, table 1). A cache that grows takes regions of its servers,
     * the last one first, or of other servers that its manager finds; the whole cache moves to these if that costs
     * less. A cache that shrinks gives whole regions back. No request to the part that stays waits. New bytes are zero,
     * also if the cache had them before. Once the cache is smaller, requests beyond the new end are refused; those
     * issued before end normally. This method waits for a migration or another change that is under way. A coded cache
     * only grows, by ranges of k + r slabs.
     *
     * @param bytes at least 1
     * @throws CacheException if there are not enough regions, a server or the manager refuses, or a session has
     *     requests pending beyond the new end and its thread does not poll for {@value CacheResizer#QUIET_SECONDS}
     *     seconds. Capacity and content are as before then
     */
    public void reshape(long bytes) {
        throw unsupported("change its capacity: create another");
    }

    /**
     * Changes capacity and objective together, or neither: as {@link #reshape(long)} and {@link #reshape(Slo)}.
     *
     * @return why the cache has the configuration that it has now
     */
    public Explanation reshape(long bytes, Slo objective) {
        throw unsupported("change its capacity or its objective: create another");
    }

    /** Why the cache runs with its configuration; empty if it was created without an objective. */
    public final Optional<Explanation> explanation() {
        SloWatch watch = watch();
        return watch == null ? Optional.empty() : Optional.of(watch.explanation());
    }

    /**
     * The cache's performance in the last complete period, compared with its objective; empty if it has no objective,
     * or no period has ended.
     */
    public final Optional<SloReport> sloReport() {
        SloWatch watch = watch();
        return watch == null ? Optional.empty() : watch.last();
    }

    /** In how many periods the cache has missed its objective; 0 if it has no objective. */
    public final long sloMissed() {
        SloWatch watch = watch();
        return watch == null ? 0 : watch.missed();
    }

    /** Watches its objective; null if it has none. */
    abstract @Nullable SloWatch watch();

    /**
     * The id by which the cache's manager identifies it.
     *
     * @throws IllegalStateException if it has no manager
     */
    public final long id() {
        return management().cacheId();
    }

    /**
     * Extends the cache's lifetime beyond the duration given when it was created; see {@link CacheBuilder#onExpiring}.
     *
     * @param likely how long the cache is likely to be needed, from now; null for ever
     * @throws CacheException if its manager does not answer
     * @throws IllegalStateException if it has no manager
     */
    public final void extend(@Nullable Duration likely) {
        management().extend(likely);
    }

    final ManagedCacheClient management() {
        ManagedCacheClient management = options.management();
        if (management == null) {
            throw new IllegalStateException(
                    "the cache has servers by address, and so no manager that knows it by an id");
        }
        return management;
    }

    /**
     * Moves one region, as {@link #migrate(List, String, MigrationOptions)} with the cache's
     * {@linkplain CacheBuilder#migration options}.
     */
    public final MigrationResult migrate(int region, String to) {
        return migrate(List.of(region), to, options.migration());
    }

    /**
     * Moves regions, one by one, while the cache is used.
     *
     * @param regions from 0 to {@link #regions}, exclusive
     * @param to HOST:PORT of a server that the cache uses or, with a manager, of any that the manager has
     * @throws IndexOutOfBoundsException if there is no such region. Nothing has moved then
     * @throws CacheException if a server or the manager refuses or does not answer. The regions before the one that
     *     failed have moved, those after it have not. Of the region that failed, the chunks that had moved are in the
     *     new place, the others in the old one: it can be used, and moved again. If one of the two servers is lost, the
     *     part of the region on that server is lost with it.
     */
    public MigrationResult migrate(List<Integer> regions, String to, MigrationOptions how) {
        throw unsupported("move single slabs: retire takes all off a server");
    }

    /**
     * As {@link #retire(String, MigrationOptions, Consumer)} with the cache's {@linkplain CacheBuilder#migration
     * options}.
     */
    public final MigrationResult retire(String address, Consumer<MigrationResult> moved) {
        return retire(address, options.migration(), moved);
    }

    /**
     * Moves all regions off a server, one by one, to the other servers with the most room, and gives its lease back. In
     * a coded cache a region is a slab, which is regenerated elsewhere from other slabs: {@code how} is ignored, and
     * the longest pause is not measured and so 0.
     *
     * @param address HOST:PORT
     * @param moved called for each region that has moved, on this thread; it may not change, move or close the cache
     * @throws CacheException as {@link #migrate(List, String, MigrationOptions)}; for a coded cache, if a slab has no
     *     other place, or its range can spare none. Regions that have moved stay in their new place
     */
    public abstract MigrationResult retire(String address, MigrationOptions how, Consumer<MigrationResult> moved);

    private UnsupportedOperationException unsupported(String what) {
        checkOpen();
        return new UnsupportedOperationException("a coded cache does not " + what);
    }

    /** As {@link #close}: Redy's name for it. */
    public final void delete() {
        close();
    }

    /**
     * Closes all sessions and gives all memory back. A migration that is under way stops. Requests pending in sessions
     * of other threads are not called back; the next use of such a session throws. Buffers that are still open are
     * closed. Idempotent.
     */
    @Override
    public final void close() {
        refuseInCallback();
        refuseInListener();
        beginClosing();
        futures.forEach(FutureCacheSession::beginClose);
        futures.forEach(FutureCacheSession::close);
        end();
    }

    /**
     * Announces that all sessions will be closed, so that the time limit for that runs once for all of them. Does not
     * wait.
     */
    void beginClosing() {}

    /** Throws if the calling thread is in a listener of a move. */
    void refuseInListener() {}

    /** Does the work of {@link #close}, except for future sessions. */
    abstract void end();

    /**
     * From now on nothing can be opened.
     *
     * @return false if the cache was being ended already
     */
    final boolean beginEnd() {
        openings.writeLock().lock();
        topology.lock();
        try {
            boolean first = !deleted;
            deleted = true;
            return first;
        } finally {
            topology.unlock();
            openings.writeLock().unlock();
        }
    }

    final boolean deleted() {
        return deleted;
    }

    /** Adds the ends of all sessions and buffers to a stack. */
    final void endSessions(CloseStack everything) {
        everything.add(this::freeBuffers);
        sessions.forEach(session -> everything.add(session.lifeCycle::destroy));
        sessions.clear();
    }

    private void freeBuffers() {
        topology.lock();
        try {
            buffers.forEach(buffer -> buffer.closed(true));
            Closeables.all(
                    buffers.stream().<AutoCloseable>map(buffer -> buffer::free).toList());
            buffers.clear();
        } finally {
            topology.unlock();
        }
    }

    final void end(RequestBuffer buffer) {
        refuseInCallback();
        topology.lock();
        try {
            if (!buffers.contains(buffer)) {
                return;
            }
            buffer.closed(true);
            for (SessionCore session : sessions) {
                if (session.pending.uses(buffer)) {
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

    /** Fills the cache from the file of its options, if there is one. */
    final void load() {
        Path file = options.file();
        if (file == null) {
            return;
        }
        CacheSession session = openSession();
        try (FileLoader loader = new FileLoader(capacity(), session, this::allocate)) {
            loader.load(file, options.loaded());
        } finally {
            session.close();
        }
    }

    final void checkOpen() {
        refuseInCallback();
        if (deleted) {
            throw new IllegalStateException("the cache is deleted");
        }
    }

    /**
     * Throws if the calling thread is in a callback. It is inside its session's gate then, and a method that claims
     * gates, or waits for a thread that does, would wait for ever.
     */
    final void refuseInCallback() {
        for (SessionCore session : sessions) {
            session.admission.refuseInCallback();
        }
    }
}
