package io.farheap.manager.service;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Allocation;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ServerReport;
import io.farheap.manager.Share;
import io.farheap.manager.service.Allocator.NoRoomException;
import io.farheap.manager.service.Allocator.Placement;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.Change;
import io.farheap.manager.state.ServerRecord;
import io.farheap.manager.state.StaleEpochException;
import io.farheap.manager.state.State;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * What a manager knows and does. What must survive it is written before anybody hears of it; what servers report, and
 * which clients are there, is in memory alone, and a manager that starts anew hears it within seconds.
 *
 * <p>Thread-safe: one lock. Somebody calls {@link #tick} a few times a second.
 */
public final class Cluster implements CacheManager {

    private static final System.Logger LOG = System.getLogger(Cluster.class.getName());

    private final StateStore store;
    private final ManagerOptions options;
    private final LongSupplier nanos;
    private final LongSupplier millis;
    /** When this manager began to hear of servers. */
    private final long started;

    private long ticked;

    private final TreeMap<Long, CacheRecord> caches = new TreeMap<>(Long::compareUnsigned);
    private final Servers servers;
    private final Clients clients;
    /** The server that each cache with a reservation leaves. A manager that starts anew plans anew. */
    private final Map<Long, Long> leaving = new TreeMap<>();
    /** Since when room is reserved for each cache that grows. A manager that starts anew counts anew. */
    private final Map<Long, Long> growing = new TreeMap<>();
    /** Caches for which no room was found, of which the log has heard. */
    private final Set<Long> stuck = new TreeSet<>();

    /**
     * @param nanos a clock for time limits
     * @param millis the time of day, for what outlives this process
     */
    public Cluster(StateStore store, ManagerOptions options, LongSupplier nanos, LongSupplier millis) {
        this.store = store;
        this.options = options;
        this.nanos = nanos;
        this.millis = millis;
        this.started = nanos.getAsLong();
        this.ticked = started;
        this.servers = new Servers(options.serverSilentNanos());
        this.clients = new Clients(options.clientSilentNanos());
        State state = store.load();
        state.servers().forEach(servers::put);
        for (CacheRecord cache : state.caches()) {
            caches.put(cache.id(), cache);
            servers.promise(null, cache);
            clients.claim(cache.id(), started);
        }
    }

    @Override
    public long hello(int protocolVersion) {
        if (protocolVersion != PROTOCOL_VERSION) {
            throw new ControlException(
                    Code.PROTOCOL_MISMATCH,
                    "the caller speaks version " + Integer.toUnsignedString(protocolVersion)
                            + " of the manager's protocol and the manager version " + PROTOCOL_VERSION
                            + "; run the same release on both");
        }
        return store.epoch();
    }

    @Override
    public synchronized Allocation allocate(CacheRequest request) {
        CacheRecord known = caches.get(request.cacheId());
        if (known != null) {
            if (known.capacity() != request.capacity()) {
                throw new ControlException(
                        Code.INVALID_ARGUMENT,
                        "cache " + hex(known.id()) + " has " + known.capacity() + " bytes, not " + request.capacity()
                                + "; choose another id for another cache");
            }
            return allocation(known);
        }
        long now = nanos.getAsLong();
        Placement placement;
        try {
            placement = Allocator.place(servers.offers(now), request.capacity());
        } catch (NoRoomException e) {
            throw new ControlException(
                    Code.OUT_OF_MEMORY,
                    e.most() == 0
                            ? "no server has a free region; start one with --manager"
                            : "there is no room for " + request.capacity() + " bytes, but for one cache of " + e.most()
                                    + "; ask for less, or start servers with --manager",
                    e);
        }
        CacheRecord cache = new CacheRecord(
                request.cacheId(),
                request.name(),
                request.capacity(),
                0,
                placement.regionBytes(),
                request.lifetimeMillis() == 0 ? 0 : Math.addExact(millis.getAsLong(), request.lifetimeMillis()),
                1,
                placement.regions(),
                Collections.emptySortedMap());
        write(cache);
        clients.claim(cache.id(), now);
        return allocation(cache);
    }

    @Override
    public synchronized Allocation reallocate(long cacheId, long capacity) {
        CacheRecord cache = require(cacheId);
        if (capacity < 1) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT, "a capacity of " + capacity + " bytes; it is 1 to " + Long.MAX_VALUE);
        }
        long missing = regions(capacity, cache.regionBytes()) - total(cache.regions());
        if (missing <= 0 || cache.wanted() == capacity) {
            return allocation(cache);
        }
        if (leaving.containsKey(cacheId) || cache.wanted() != 0) {
            throw new ControlException(
                    Code.BUSY,
                    "cache " + hex(cacheId)
                            + (cache.wanted() == 0
                                    ? " is leaving a server"
                                    : " is growing to " + cache.wanted() + " bytes")
                            + "; ask again in a moment");
        }
        long now = nanos.getAsLong();
        try {
            if (missing > Integer.MAX_VALUE) {
                throw new NoRoomException(0);
            }
            write(cache.reserving(capacity, Allocator.move(servers.offers(now), cache.regionBytes(), (int) missing)));
        } catch (NoRoomException e) {
            long most = cache.regionBytes() * total(cache.regions()) + e.most();
            throw new ControlException(
                    Code.OUT_OF_MEMORY,
                    "cache " + hex(cacheId) + " cannot have " + capacity + " bytes, but " + most
                            + "; ask for less, or start servers with --manager",
                    e);
        }
        growing.put(cacheId, now);
        return allocation(require(cacheId));
    }

    @Override
    public synchronized Allocation moved(long cacheId, long generation, long capacity, List<Share> shares) {
        CacheRecord cache = require(cacheId);
        SortedMap<Long, Integer> regions = new TreeMap<>();
        for (Share share : shares) {
            Servers.Known server = servers.of(cache, share.address());
            if (server == null) {
                throw new ControlException(
                        Code.INVALID_ARGUMENT,
                        "cache " + hex(cacheId) + " was not told of server " + share.address() + "; it has "
                                + addresses(cache.regions()) + " and " + addresses(cache.reserved()));
            }
            regions.merge(server.record.id(), share.regions(), Integer::sum);
        }
        if (capacity < 1 || capacity > cache.capacity() && capacity != cache.wanted() && !fits(cache, capacity)) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + hex(cacheId) + " has " + cache.capacity() + " bytes, not " + capacity
                            + "; it asks before it grows");
        }
        if (total(regions) != regions(capacity, cache.regionBytes())) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + hex(cacheId) + " of " + capacity + " bytes has " + regions(capacity, cache.regionBytes())
                            + " regions, not " + total(regions));
        }
        if (regions.equals(cache.regions())
                && capacity == cache.capacity()
                && cache.reserved().isEmpty()) {
            return allocation(cache);
        }
        if (generation != cache.generation()) {
            throw new ControlException(
                    Code.BUSY,
                    "cache " + hex(cacheId) + " is at generation " + cache.generation() + ", not " + generation
                            + "; another alert is on its way");
        }
        write(cache.placed(capacity, regions));
        growing.remove(cacheId);
        // What is left is planned by the next tick: a target that does not work is not asked at once again.
        leaving.remove(cacheId);
        return allocation(require(cacheId));
    }

    private static boolean fits(CacheRecord cache, long capacity) {
        return regions(capacity, cache.regionBytes()) == total(cache.regions());
    }

    private static long regions(long capacity, long regionBytes) {
        return (capacity - 1) / regionBytes + 1;
    }

    @Override
    public synchronized void deallocate(long cacheId) {
        CacheRecord cache = caches.get(cacheId);
        if (cache != null) {
            remove(cache);
        }
    }

    @Override
    public synchronized CacheDescription describe(long cacheId) {
        return description(require(cacheId));
    }

    @Override
    public synchronized List<CacheDescription> list(long after, int most) {
        if (most < 1 || most > MAX_PAGE) {
            throw new ControlException(Code.INVALID_ARGUMENT, "a page of " + most + " caches; it has 1 to " + MAX_PAGE);
        }
        return caches.tailMap(after, false).values().stream()
                .limit(most)
                .map(this::description)
                .toList();
    }

    @Override
    public synchronized List<ServerReport> servers() {
        long now = nanos.getAsLong();
        List<ServerReport> reports = new ArrayList<>();
        servers.all().filter(server -> !servers.isSilent(server, now)).forEach(server -> {
            if (server.report != null) {
                reports.add(server.report);
            }
        });
        return reports;
    }

    @Override
    public Attendance attend(long clientId, Listener listener) {
        Clients.Line line = new Clients.Line(listener);
        return new Attendance() {
            @Override
            public void renew(Set<Long> cacheIds) {
                synchronized (Cluster.this) {
                    clients.renew(line, cacheIds, nanos.getAsLong());
                    alert();
                }
            }

            @Override
            public void close() {
                synchronized (Cluster.this) {
                    clients.close(line);
                }
            }
        };
    }

    @Override
    public synchronized void report(ServerReport report) {
        Servers.Known known = servers.find(report.serverId());
        ServerRecord record = new ServerRecord(
                report.serverId(),
                report.address(),
                report.type(),
                report.place(),
                report.regionBytes(),
                report.totalRegions(),
                report.noticeMillis(),
                report.leaving());
        if (known == null || !known.record.equals(record)) {
            store(List.of(new Change.PutServer(record)));
            servers.put(record);
            servers.replaces(record);
            LOG.log(
                    System.Logger.Level.DEBUG,
                    "memory server " + report.address() + (report.leaving() ? " leaves" : " is there"));
        }
        Servers.Known server = Objects.requireNonNull(servers.find(report.serverId()));
        server.report = report;
        server.reportedAt = nanos.getAsLong();
        if (report.leaving()) {
            planMoves();
        }
    }

    /** Does what is due. A few times a second. */
    public synchronized void tick() {
        long now = nanos.getAsLong();
        if (now - ticked > options.serverSilentNanos()) {
            // This process stood still, and so has not heard what was said.
            caches.keySet().forEach(cache -> clients.claim(cache, now));
        }
        ticked = now;
        List<CacheRecord> abandoned = caches.values().stream()
                .filter(cache -> clients.abandoned(cache.id(), now)
                        && servers.knownFree(cache, now, options.clientSilentNanos()))
                .toList();
        for (CacheRecord cache : abandoned) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cache " + hex(cache.id()) + " of " + cache.name() + " is given up: its client is gone");
            remove(cache);
        }
        List<Servers.Known> gone = servers.all()
                .filter(server -> servers.isSilent(server, now)
                        && server.promised.isEmpty()
                        && (server.report == null
                                ? now - started > options.clientSilentNanos()
                                : now - server.reportedAt > options.clientSilentNanos()))
                .toList();
        for (Servers.Known server : gone) {
            store(List.of(new Change.RemoveServer(server.record.id())));
            servers.remove(server.record.id());
        }
        for (CacheRecord cache : caches.values().stream()
                .filter(cache -> cache.wanted() != 0 && !grows(cache, now))
                .toList()) {
            write(cache.placed(cache.capacity(), cache.regions()));
            growing.remove(cache.id());
        }
        planMoves();
    }

    /** Reserves room for what is on servers that leave, and tells the clients. */
    private void planMoves() {
        long now = nanos.getAsLong();
        for (Servers.Known server : servers.all()
                .filter(one -> one.record.leaving() && !servers.isSilent(one, now))
                .toList()) {
            for (long cacheId : List.copyOf(server.promised.keySet())) {
                planMove(require(cacheId), server, now);
            }
        }
        alert();
    }

    /** One at a time for each cache. */
    private void planMove(CacheRecord cache, Servers.Known server, long now) {
        Integer regions = cache.regions().get(server.record.id());
        if (regions == null || grows(cache, now) || leaving.containsKey(cache.id()) && targetsStay(cache, now)) {
            return;
        }
        // What was reserved for it before is its own to take.
        CacheRecord bare = cache.placed(cache.capacity(), cache.regions());
        servers.promise(cache, bare);
        boolean planned = false;
        try {
            SortedMap<Long, Integer> targets = Allocator.move(servers.offers(now), cache.regionBytes(), regions);
            write(cache.reserving(0, targets));
            planned = true;
            growing.remove(cache.id());
            leaving.put(cache.id(), server.record.id());
            stuck.remove(cache.id());
        } catch (NoRoomException e) {
            if (stuck.add(cache.id())) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "no room for " + regions + " regions of cache " + hex(cache.id()) + " on memory server "
                                + server.record.address() + ", which leaves: " + e.getMessage());
            }
        } finally {
            if (!planned) {
                servers.promise(bare, cache);
            }
        }
    }

    /** Room that it asked for a moment ago is its own to take first. */
    private boolean grows(CacheRecord cache, long now) {
        return cache.wanted() != 0 && now - growing.computeIfAbsent(cache.id(), _ -> now) <= GROWTH_MILLIS * 1_000_000L;
    }

    private boolean targetsStay(CacheRecord cache, long now) {
        return cache.reserved().keySet().stream().allMatch(id -> {
            Servers.Known target = servers.find(id);
            return target != null && !target.record.leaving() && !servers.isSilent(target, now);
        });
    }

    /** Tells clients what they have not been told. */
    private void alert() {
        for (Map.Entry<Long, Long> move : leaving.entrySet()) {
            CacheRecord cache = require(move.getKey());
            Servers.Known server = servers.find(move.getValue());
            Clients.Line line = clients.line(cache.id());
            if (line != null && server != null && server.report != null && line.hearsFirst(cache)) {
                long ago = (nanos.getAsLong() - server.reportedAt) / 1_000_000;
                alert(
                        line,
                        new Reclaim(
                                cache.id(),
                                cache.generation(),
                                server.record.address(),
                                Math.max(0, server.report.leavesWithinMillis() - ago),
                                shares(cache.reserved())));
            }
        }
    }

    private static void alert(Clients.Line line, Reclaim reclaim) {
        try {
            line.listener.reclaim(reclaim);
        } catch (RuntimeException e) {
            // Its line is broken: it hears of it when it has another.
            LOG.log(System.Logger.Level.DEBUG, "a client does not hear of a server that leaves", e);
        }
    }

    private void remove(CacheRecord cache) {
        store(List.of(new Change.RemoveCache(cache.id())));
        caches.remove(cache.id());
        servers.promise(cache, null);
        clients.forget(cache.id());
        leaving.remove(cache.id());
        growing.remove(cache.id());
        stuck.remove(cache.id());
    }

    private void write(CacheRecord after) {
        store(List.of(new Change.PutCache(after)));
        servers.promise(caches.put(after.id(), after), after);
    }

    private void store(List<Change> changes) {
        try {
            store.write(changes);
        } catch (StaleEpochException e) {
            throw new ControlException(Code.UNAVAILABLE, "this manager leads no more: " + e.getMessage(), e);
        } catch (StateException e) {
            throw new ControlException(Code.INTERNAL, "the manager cannot write its state: " + e.getMessage(), e);
        }
    }

    private CacheRecord require(long cacheId) {
        CacheRecord cache = caches.get(cacheId);
        if (cache == null) {
            throw new ControlException(Code.NOT_FOUND, "there is no cache " + hex(cacheId));
        }
        return cache;
    }

    private static long total(Map<Long, Integer> regions) {
        return regions.values().stream().mapToLong(Integer::longValue).sum();
    }

    private Allocation allocation(CacheRecord cache) {
        return new Allocation(
                cache.id(),
                cache.generation(),
                cache.capacity(),
                cache.regionBytes(),
                shares(cache.regions()),
                shares(cache.reserved()));
    }

    private CacheDescription description(CacheRecord cache) {
        return new CacheDescription(
                allocation(cache),
                cache.name(),
                cache.expiresAtMillis() == 0 ? 0 : Math.max(1, cache.expiresAtMillis() - millis.getAsLong()));
    }

    private List<Share> shares(SortedMap<Long, Integer> regions) {
        return regions.entrySet().stream()
                .map(one -> new Share(address(one.getKey()), one.getValue()))
                .toList();
    }

    private List<String> addresses(SortedMap<Long, Integer> regions) {
        return regions.keySet().stream().map(this::address).toList();
    }

    private String address(long serverId) {
        Servers.Known server = servers.find(serverId);
        return server == null ? "(forgotten)" : server.record.address();
    }

    private static String hex(long id) {
        return "%016x".formatted(id);
    }
}
