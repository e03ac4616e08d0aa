package io.farheap.cache;

import io.farheap.cache.calls.CallTally;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.CallCounts;
import io.farheap.cache.contract.SloReport;
import io.farheap.cache.contract.Status;
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
 * <p>One with {@link CacheBuilder#resilience} outlives servers: its pages are coded over several, and what was lost is
 * regenerated (Hydra). It has no regions to move; what it does not do says so, as
 * {@link UnsupportedOperationException}.
 */
public abstract sealed class Cache implements AutoCloseable permits RegionCache, CodedCache {

    final CacheOptions options;
    final LatencyTracker latency = new LatencyTracker();
    final List<SessionCore> sessions = new CopyOnWriteArrayList<>();
    /**
     * Whoever lists a new session shares it; whoever changes which servers there are, or what new sessions are made of,
     * has it alone for a moment. Taken before {@code topology}.
     */
    final ReentrantReadWriteLock openings = new ReentrantReadWriteLock();

    private final Set<FutureCacheSession> futures = ConcurrentHashMap.newKeySet();
    private final Set<Buffer> buffers = ConcurrentHashMap.newKeySet();
    /** Guards which buffers and sessions there are, for short: no server is called under it. */
    private final ReentrantLock topology = new ReentrantLock();
    /** Set with {@code openings} held alone. */
    private volatile boolean deleted;

    Cache(CacheOptions options) {
        this.options = options;
    }

    public static CacheBuilder builder() {
        return new CacheBuilder();
    }

    /** Bytes: addresses go from 0 to this, exclusive. */
    public abstract long capacity();

    /** The RDMA device in use. */
    public abstract Context context();

    /** The size of the regions in which the cache moves, in bytes; of a coded one, of its slabs. */
    public abstract long regionBytes();

    /** How many regions it has; of a coded one, slabs: those of one range of pages follow one another. */
    public abstract int regions();

    /** The server that has a region now, or its beginning where it is on its way, as HOST:PORT. */
    public abstract String serverOf(int region);

    /**
     * How much of a region that is moving, or did so in part, from its beginning on, is where it is to go: 0 for a
     * region in one place.
     */
    public abstract long movedBytes(int region);

    /**
     * A new session; it belongs to the first thread that uses it. It connects to every server anew, so it also replaces
     * one whose connection failed; requests to a server that cannot be reached end with {@link Status#LOST}.
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

    /** A session of the application's, of a cache that is open: {@link #checkOpen} says so under {@code openings}. */
    abstract SessionCore open(@Nullable OperationLatency recorder);

    /**
     * A facade of futures over a session and a thread of its own, for those who prefer comfort. It is closed with the
     * cache.
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
     * @param bytes rounded up to whole pages
     */
    public final Buffer allocate(long bytes) {
        return add(() -> register(bytes));
    }

    /**
     * Registers memory that is somebody else's, for requests as with {@link #allocate}: it outlives the cache, and may
     * be registered with several. To close the buffer ends the registration, and leaves the memory alone; the cache,
     * when it is closed, does so too.
     *
     * @param memory off-heap, writable, and there until the buffer is closed; any thread's
     * @throws IllegalArgumentException where it is not
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

    /** What became of the calls of procedures that the sessions of this process made; nothing where it is coded. */
    public CallCounts callCounts() {
        return new CallTally().now();
    }

    /** Latencies of all sessions; empty where the cache was built without {@link CacheBuilder#trackLatency}. */
    public final LatencyTracker latency() {
        return latency;
    }

    /** The client's name in servers' logs, thread names and metrics. */
    public final String name() {
        return options.name();
    }

    /**
     * Code that runs where the data is.
     *
     * @throws UnsupportedOperationException where the cache is coded: a server would see splits
     */
    public Procedures procedures() {
        throw unsupported("have procedures: a server has parts of its pages alone");
    }

    /** How requests travel now. */
    public abstract CacheConfiguration configuration();

    /** Servers that the cache uses, as HOST:PORT. */
    public abstract List<String> servers();

    /**
     * Adds a server for regions to move to, or for slabs.
     *
     * @throws CacheException where it cannot be reached, is in use already, by this or another address, or its regions
     *     have another size (of a coded cache: are smaller)
     */
    public abstract void addServer(String address);

    /**
     * What is left of the promises of a coded cache.
     *
     * @throws UnsupportedOperationException where it was built without {@link CacheBuilder#resilience}
     */
    public Health health() {
        throw new UnsupportedOperationException(
                "a cache without resilience has no health; create it with CacheBuilder.resilience");
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
        throw unsupported("change how its requests travel: create another");
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
        throw unsupported("change its objective: create another");
    }

    /**
     * Looks for another configuration for the objective that the cache has, because it misses it: as {@link #reshape},
     * with a margin that is larger by what predictions for the present one were better than what it did when it last
     * missed it.
     */
    public Explanation retune() {
        throw unsupported("change its configuration: create another");
    }

    /**
     * Changes the capacity, while the cache is used (Redy, table 1): to grow takes regions of its servers, the last one
     * first, or of others that its manager finds, to which all of it moves where that costs less; to shrink gives whole
     * regions back. No request to what stays waits. What is new is zero, also where it was there before. Requests
     * beyond the new end are refused once the cache is smaller; those that were issued before end as they are. A
     * migration or another change is waited for. A coded cache only grows: by ranges of k + r slabs.
     *
     * @param bytes at least 1
     * @throws CacheException where there are not enough regions, a server or the manager refuses, or a session has
     *     requests pending beyond the new end and its thread polls for none of them for
     *     {@value CacheResizer#QUIET_SECONDS} seconds. The capacity and the content are as before then
     */
    public void reshape(long bytes) {
        throw unsupported("change its capacity: create another");
    }

    /**
     * Changes capacity and objective, or neither: as {@link #reshape(long)} and {@link #reshape(Slo)}.
     *
     * @return why the cache has the configuration that it has now
     */
    public Explanation reshape(long bytes, Slo objective) {
        throw unsupported("change its capacity or its objective: create another");
    }

    /** Why the cache runs with its configuration; empty where it was created without an objective. */
    public final Optional<Explanation> explanation() {
        SloWatch watch = watch();
        return watch == null ? Optional.empty() : Optional.of(watch.explanation());
    }

    /**
     * What the cache did in the last period that is over, beside its objective; empty where it has none, or no period
     * is over.
     */
    public final Optional<SloReport> sloReport() {
        SloWatch watch = watch();
        return watch == null ? Optional.empty() : watch.last();
    }

    /** In how many periods the cache has missed its objective; 0 where it has none. */
    public final long sloMissed() {
        SloWatch watch = watch();
        return watch == null ? 0 : watch.missed();
    }

    /** Of its objective; null where it has none. */
    abstract @Nullable SloWatch watch();

    /**
     * By which the cache's manager knows it.
     *
     * @throws IllegalStateException where it has none
     */
    public final long id() {
        return management().cacheId();
    }

    /**
     * The cache is needed for longer than was said when it was created; see {@link CacheBuilder#onExpiring}.
     *
     * @param likely from now; null for ever
     * @throws CacheException where its manager does not answer
     * @throws IllegalStateException where it has none
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
     * @throws CacheException where a server or the manager refuses or does not answer. Regions before that one have
     *     moved, those after it have not. Of itself, the chunks that had moved are in the new place, the others in the
     *     old one: it can be used, and moved again. A part of it whose server is lost is lost with that.
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
     * Moves all regions off a server, one by one, to those of the others that have most room, and gives its lease back.
     * With resilience a region is a slab, which is made anew elsewhere of others: how is not asked, and the longest
     * pause is not measured, so 0.
     *
     * @param address HOST:PORT
     * @param moved told of each region that has moved, on this thread; it may not change, move or close the cache
     * @throws CacheException as {@link #migrate(List, String, MigrationOptions)}; with resilience where a slab has no
     *     other place, or its range can spare none. What has moved stays where it is
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
     * Closes all sessions and gives all memory back. A migration that is under way stops. Requests that are pending in
     * sessions of other threads are not called back; the next use of such a session throws. Buffers that are still open
     * are closed. Idempotent.
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

    /** All sessions are to be closed: what that may take is one time for all of them. Does not wait. */
    void beginClosing() {}

    /** Throws where the calling thread is in a listener that is told of a move. */
    void refuseInListener() {}

    /** What {@link #close} is, but for futures. */
    abstract void end();

    /** @return false where somebody has done so before: from now on nothing can be opened */
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

    /** Adds the end of all sessions and buffers. */
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

    /** Fills it as it was to be. */
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
     * A callback is inside its session's gate: what claims gates, or waits for somebody who does, would wait for ever.
     */
    final void refuseInCallback() {
        for (SessionCore session : sessions) {
            session.admission.refuseInCallback();
        }
    }
}
