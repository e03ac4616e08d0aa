package io.farheap.manager.service.requests;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.RegionShare;
import io.farheap.manager.allocation.Holding;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.allocation.Reallocation;
import io.farheap.manager.allocation.Reallocator;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Tenants;
import io.farheap.manager.service.moves.PlannedMoves;
import io.farheap.manager.service.servers.FreeRoom;
import io.farheap.manager.service.servers.ServerMembership;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.service.servers.SpotLives;
import io.farheap.manager.service.supply.MachineOrder;
import io.farheap.manager.service.supply.MachineSelector;
import io.farheap.manager.service.supply.SpareCapacity;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CachePlan;
import io.farheap.manager.state.CacheRecord;
import io.farheap.memory.ByteSize;
import io.farheap.memory.Plurals;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Changes of an existing cache that its client asks for: the manager reserves room, and then the client reports what
 * the cache has become. Guarded by the manager's lock.
 */
public final class Reallocations {

    private final Caches caches;
    private final Servers servers;
    private final Tenants tenants;
    private final PlannedMoves moves;
    private final ServerMembership roll;
    private final SpareCapacity spares;
    private final Reallocator reallocator;
    private final SpotLives lives;
    private final MachineSelector shopping;
    private final boolean cheaper;
    private final LongSupplier nanos;
    private final LongSupplier millis;

    /** @param cheaper whether caches may move to servers that cost less */
    public Reallocations(
            Caches caches,
            Servers servers,
            Tenants tenants,
            PlannedMoves moves,
            ServerMembership roll,
            SpareCapacity spares,
            Reallocator reallocator,
            SpotLives lives,
            MachineSelector shopping,
            boolean cheaper,
            LongSupplier nanos,
            LongSupplier millis) {
        this.caches = caches;
        this.servers = servers;
        this.tenants = tenants;
        this.moves = moves;
        this.roll = roll;
        this.spares = spares;
        this.reallocator = reallocator;
        this.lives = lives;
        this.shopping = shopping;
        this.cheaper = cheaper;
        this.nanos = nanos;
        this.millis = millis;
    }

    public static AllocationCandidate candidate(AllocationTerms terms) {
        return new AllocationCandidate(terms.switches(), terms.serverThreads());
    }

    static AllocationCandidate candidate(CachePlan plan) {
        return new AllocationCandidate(plan.switches(), plan.serverThreads());
    }

    /** A client's request. */
    private record ReallocationRequest(CacheRecord cache, long capacity, List<AllocationCandidate> candidates) {

        /** Whether the client asks for another objective, or for another placement for the same one. */
        boolean configures() {
            return !candidates.isEmpty();
        }

        List<AllocationCandidate> any() {
            return configures() ? candidates : List.of(candidate(cache.terms()));
        }

        long missing() {
            return Caches.regions(capacity, cache.regionBytes()) - cache.count();
        }

        boolean isPlanned() {
            CachePlan plan = cache.plan();
            return cache.wanted() == capacity && plan != null && any().contains(candidate(plan));
        }

        /** Returns the number of regions that the server threads of its configuration are for. */
        long threadRegions() {
            if (configures()) {
                return Caches.regions(capacity, cache.regionBytes());
            }
            long before = cache.terms().threadRegions();
            return before == 0 ? cache.count() : before;
        }

        Need need(long millis) {
            Need before = Caches.need(cache, millis);
            return new Need(
                    Caches.bytes(threadRegions(), cache.regionBytes()),
                    before.hours(),
                    before.place(),
                    any(),
                    before.avoidServers(),
                    before.avoidRacks());
        }

        Holding held() {
            return new Holding(
                    cache.regionBytes(), cache.regions(), cache.terms().switches(), cache.threadsOfRegion());
        }

        int more() {
            return Math.clamp(missing(), 0, Integer.MAX_VALUE);
        }
    }

    /** Refuses too many candidates: all of them are tried with the lock. */
    public static void requireFew(List<AllocationCandidate> candidates) {
        if (candidates.size() > CacheRequest.MAX_CANDIDATES) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    candidates.size() + " configurations of a cache; there are at most " + CacheRequest.MAX_CANDIDATES);
        }
    }

    /** As {@code CacheManager.reallocate}. */
    public CacheRecord reallocate(long cacheId, long capacity, List<AllocationCandidate> candidates) {
        CacheRecord cache = caches.require(cacheId);
        if (capacity < 1) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT, "a capacity of " + capacity + " bytes; it is 1 to " + Long.MAX_VALUE);
        }
        tenants.requireLarger(cache, capacity);
        ReallocationRequest wish = new ReallocationRequest(cache, capacity, candidates);
        if (!wish.configures() && wish.missing() <= 0 || wish.isPlanned()) {
            return cache;
        }
        if (moves.isMoving(cacheId) || cache.wanted() != 0) {
            throw new ControlException(
                    Code.BUSY,
                    "cache " + Caches.hex(cacheId)
                            + (cache.wanted() == 0
                                    ? " is leaving a server"
                                    : " is becoming one of " + ByteSize.text(cache.wanted()))
                            + "; ask again in a moment");
        }
        requireStays(cache);
        return plan(wish);
    }

    /**
     * Refuses a change of a cache on a server that leaves: its move off that server comes first. No move off a server
     * that is silent is planned, so nothing waits for its room.
     */
    private void requireStays(CacheRecord cache) {
        long now = nanos.getAsLong();
        for (long id : cache.regions().keySet()) {
            Servers.KnownServer server = servers.find(id);
            if (server != null && server.record.leaving() && !servers.isSilent(server, now)) {
                throw new ControlException(
                        Code.BUSY,
                        "cache " + Caches.hex(cache.id()) + " has regions on memory server " + servers.address(id)
                                + ", which leaves; ask again in a moment");
            }
        }
    }

    private CacheRecord plan(ReallocationRequest wish) {
        CacheRecord cache = wish.cache();
        long now = nanos.getAsLong();
        servers.stock(now);
        spares.refresh(now);
        try {
            Reallocation found = find(wish);
            CachePlan plan = new CachePlan(
                    found.candidate().switches(),
                    found.candidate().serverThreads(),
                    wish.threadRegions(),
                    new TreeSet<>(found.left()));
            CacheRecord planned =
                    cache.planning(wish.capacity(), plan, found.more().regions());
            caches.put(planned);
            moves.grows(cache.id(), now);
            return planned;
        } catch (NoRoomException e) {
            throw new ControlException(Code.OUT_OF_MEMORY, refusal(wish, e) + servers.sayHeldBack(), e);
        }
    }

    private Reallocation find(ReallocationRequest wish) throws NoRoomException {
        Need need = wish.need(millis.getAsLong());
        try (Servers.ServingTime _ = servers.serving(wish.cache().id(), false)) {
            return lives.preferLasting(
                    need.avoidServers(),
                    left -> reallocator.find(need.avoiding(left), wish.held(), wish.more(), cheaper));
        }
    }

    /** Returns where a cache would get what the change needs; empty if there is no room. */
    public Optional<FreeRoom> room(long cacheId, long capacity, List<AllocationCandidate> candidates) {
        ReallocationRequest wish = new ReallocationRequest(caches.require(cacheId), capacity, candidates);
        servers.stock(nanos.getAsLong());
        spares.refresh(nanos.getAsLong());
        try {
            Reallocation found = find(wish);
            double threads = (double) found.candidate().serverThreads() / wish.threadRegions();
            return Optional.of(new FreeRoom(found.more().regions(), threads));
        } catch (NoRoomException e) {
            return Optional.empty();
        }
    }

    private static String refusal(ReallocationRequest wish, NoRoomException refused) {
        CacheRecord cache = wish.cache();
        String which = "cache " + Caches.hex(cache.id()) + " cannot have " + ByteSize.text(wish.capacity());
        if (wish.configures()) {
            return which + " with that objective: other servers have room for " + ByteSize.text(refused.most())
                    + " of it; ask for less, or start servers with --manager";
        }
        long most = cache.regionBytes() * cache.count() + refused.most();
        return which + ", but " + ByteSize.text(most) + "; ask for less, or start servers with --manager";
    }

    /** Returns machines to start for a change for which there is no room; empty if the provider has too few. */
    public Optional<MachineOrder> order(long cacheId, long capacity, List<AllocationCandidate> candidates) {
        CacheRecord cache = caches.require(cacheId);
        ReallocationRequest wish = new ReallocationRequest(cache, capacity, candidates);
        Need need = wish.need(millis.getAsLong());
        return shopping.forChange(
                need,
                cache.regionBytes(),
                candidate -> reallocator.wanted(need, candidate, wish.held(), wish.more()),
                candidate -> reallocator.part(need, candidate, wish.held(), wish.more()));
    }

    /**
     * Renews room that a client asks for again: it moves regions there, and keeps the room meanwhile, also if the
     * server that they leave is about to end. It continues until it has given way to the notice, and others must not
     * get that room before.
     *
     * @return whether the cache has that room
     * @throws ControlException BUSY if no region has come there for long
     */
    public boolean renew(long cacheId, String address, int regions) {
        CacheRecord cache = caches.require(cacheId);
        Servers.KnownServer server = reserved(cache, address, regions);
        if (moves.isMoving(cacheId) || cache.wanted() != 0 || server == null) {
            return false;
        }
        int there = 0;
        for (long id : cache.reserved().keySet()) {
            Servers.KnownServer target = servers.find(id);
            there += target == null || target.report == null
                    ? 0
                    : target.report.held().getOrDefault(cacheId, 0);
        }
        if (!moves.renews(cacheId, there, nanos.getAsLong())) {
            throw new ControlException(
                    Code.BUSY,
                    "no region of cache " + Caches.hex(cacheId) + " has come to memory server " + address
                            + " for a minute, so its room there is for others; move the rest later");
        }
        return true;
    }

    /** As {@code CacheManager.reserve}, of room that cannot be {@linkplain #renew renewed}. */
    public CacheRecord reserve(long cacheId, String address, int regions) {
        CacheRecord cache = caches.require(cacheId);
        if (regions < 1) {
            throw new ControlException(Code.INVALID_ARGUMENT, "room for " + regions + " regions; that is at least 1");
        }
        if (moves.isMoving(cacheId) || cache.wanted() != 0) {
            throw new ControlException(
                    Code.BUSY, "cache " + Caches.hex(cacheId) + " moves or grows already; ask again in a moment");
        }
        long now = nanos.getAsLong();
        Servers.KnownServer server = roll.staying(address, now);
        if (server.record.regionBytes() != cache.regionBytes()) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "memory server " + address + " has regions of " + server.record.regionBytes() + " bytes, cache "
                            + Caches.hex(cacheId) + " of " + cache.regionBytes());
        }
        SortedMap<Long, Integer> reserved = new TreeMap<>(cache.reserved());
        // Regions that would be lost need a search that finds room as soon as it can be given away.
        int there = moves.anyStuck()
                ? Math.min(servers.offered(server), servers.unpromised(server))
                : servers.unpromised(server);
        int free = Math.max(0, there) + reserved.getOrDefault(server.record.id(), 0);
        if (free < regions) {
            throw new ControlException(
                    Code.OUT_OF_MEMORY,
                    "memory server " + address + " has " + Plurals.of(free, "free region") + ", not " + regions
                            + (Servers.isPressed(server) ? "; its machine wants memory back" : ""));
        }
        reserved.put(server.record.id(), regions);
        CacheRecord reserving = cache.reserving(reserved);
        caches.put(reserving);
        moves.grows(cacheId, now);
        return reserving;
    }

    /**
     * Returns the server on which a cache has this reserved room, if it stays and is not silent; it may not have
     * reported since this manager leads.
     */
    private Servers.@Nullable KnownServer reserved(CacheRecord cache, String address, int regions) {
        long now = nanos.getAsLong();
        for (Map.Entry<Long, Integer> room : cache.reserved().entrySet()) {
            Servers.KnownServer server = servers.find(room.getKey());
            if (server != null
                    && !server.record.leaving()
                    && server.record.address().equals(address)
                    && room.getValue() == regions
                    && (!servers.isSilent(server, now) || servers.isAwaited(server, now))) {
                return server;
            }
        }
        return null;
    }

    /** As {@code CacheManager.moved}. */
    public CacheRecord moved(
            long cacheId,
            long generation,
            long capacity,
            @Nullable AllocationCandidate candidate,
            List<RegionShare> shares,
            @Nullable ReclaimOutcome answer) {
        CacheRecord cache = caches.require(cacheId);
        SortedMap<Long, Integer> regions = regions(cache, generation, shares);
        requireSensible(cache, capacity, regions);
        boolean becomes = becomes(cache, capacity, candidate);
        if (regions.equals(cache.regions())
                && capacity == cache.capacity()
                && (cache.reserved().isEmpty() || keepsRoom(cache, answer))
                && cache.wanted() == 0) {
            return cache;
        }
        requireCurrent(cache, generation);
        requireGiven(cache, regions);
        tenants.requireLarger(cache, capacity);
        long now = nanos.getAsLong();
        boolean gaveWay = moves.isAnnounced(cacheId);
        // The next tick plans moves of the rest: a target that does not work is not asked again at once.
        SortedMap<Long, Integer> reserved = moves.settled(cache, regions, answer, now);
        caches.put(becomes ? cache.become(capacity, regions) : cache.placed(capacity, regions, reserved));
        if (gaveWay) {
            moves.planAnnounced(cacheId, now, millis.getAsLong());
        }
        return caches.require(cacheId);
    }

    /**
     * Whether a report of a cache that is where it was says nothing of the room that is reserved for it. It does if it
     * answers the alert of a planned move, or a notice to which the client had to give way. Room that an application
     * has reserved for a move of its own is given up when it is not renewed any more: the report may have begun before.
     */
    private boolean keepsRoom(CacheRecord cache, @Nullable ReclaimOutcome answer) {
        long id = cache.id();
        return moves.isMoving(id) ? !moves.isAnswer(id, answer) : moves.isGrowing(cache) && !moves.isAnnounced(id);
    }

    /**
     * Refuses an earlier generation, before anything else that may have changed since: that its room was given up
     * meanwhile is no mistake of the client.
     */
    private static void requireCurrent(CacheRecord cache, long generation) {
        if (generation != cache.generation()) {
            throw new ControlException(
                    Code.BUSY,
                    "cache " + Caches.hex(cache.id()) + " is at generation " + cache.generation() + ", not "
                            + generation + "; another alert is on its way");
        }
    }

    /** Whether a cache has become what was planned; else it remains what it was. */
    private static boolean becomes(CacheRecord cache, long capacity, @Nullable AllocationCandidate candidate) {
        AllocationCandidate before = candidate(cache.terms());
        AllocationCandidate now = candidate == null ? before : candidate;
        CachePlan plan = cache.plan();
        if (plan != null && now.equals(candidate(plan)) && capacity == cache.wanted()) {
            return true;
        }
        if (!now.equals(before)) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + Caches.hex(cache.id()) + " has " + before + " and not " + now
                            + "; it asks before it has another objective");
        }
        return false;
    }

    private SortedMap<Long, Integer> regions(CacheRecord cache, long generation, List<RegionShare> shares) {
        SortedMap<Long, Integer> regions = new TreeMap<>();
        for (RegionShare share : shares) {
            Map<Long, Integer> split = servers.split(cache, share);
            if (split.isEmpty()) {
                requireCurrent(cache, generation);
                throw new ControlException(
                        Code.INVALID_ARGUMENT,
                        "cache " + Caches.hex(cache.id()) + " has no room on server " + share.address()
                                + " that the manager knows of; its servers are " + addresses(cache.regions()) + " and "
                                + addresses(cache.reserved()));
            }
            split.forEach((server, count) -> regions.merge(server, count, Integer::sum));
        }
        return regions;
    }

    private static void requireSensible(CacheRecord cache, long capacity, SortedMap<Long, Integer> regions) {
        boolean fits =
                capacity >= 1 && Caches.regions(capacity, cache.regionBytes()) == Caches.regions(cache.regions());
        if (capacity < 1 || capacity > cache.capacity() && capacity != cache.wanted() && !fits) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + Caches.hex(cache.id()) + " has " + cache.capacity() + " bytes, not " + capacity
                            + "; it asks before it grows");
        }
        if (Caches.regions(regions) != Caches.regions(capacity, cache.regionBytes())) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + Caches.hex(cache.id()) + " of " + capacity + " bytes must report a number of regions of "
                            + Caches.regions(capacity, cache.regionBytes()) + ", not "
                            + Caches.regions(regions));
        }
    }

    /**
     * Refuses regions for which the cache has no room there: it would get grants for room that others were promised.
     */
    private void requireGiven(CacheRecord cache, SortedMap<Long, Integer> regions) {
        regions.forEach((server, count) -> {
            int most = servers.most(cache, server);
            if (count > most) {
                throw new ControlException(
                        Code.INVALID_ARGUMENT,
                        "cache " + Caches.hex(cache.id()) + " reports " + Plurals.of(count, "region")
                                + " on memory server " + servers.address(server) + ", where it may have " + most
                                + "; it moves only to room that was reserved for it");
            }
        });
    }

    private List<String> addresses(SortedMap<Long, Integer> regions) {
        return regions.keySet().stream().map(servers::address).toList();
    }
}
