package io.farheap.manager.service;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.Share;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.allocation.Placement;
import io.farheap.manager.state.CacheRecord;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/**
 * What a client changes of a cache that is there: room is reserved for it, and then the client says what it has. Its
 * user has a lock around it.
 */
final class Reallocations {

    private final Caches caches;
    private final Servers servers;
    private final Tenants tenants;
    private final Moves moves;
    private final Roll roll;
    private final Spares spares;
    private final Allocator allocator;
    private final LongSupplier nanos;
    private final LongSupplier millis;

    Reallocations(
            Caches caches,
            Servers servers,
            Tenants tenants,
            Moves moves,
            Roll roll,
            Spares spares,
            Allocator allocator,
            LongSupplier nanos,
            LongSupplier millis) {
        this.caches = caches;
        this.servers = servers;
        this.tenants = tenants;
        this.moves = moves;
        this.roll = roll;
        this.spares = spares;
        this.allocator = allocator;
        this.nanos = nanos;
        this.millis = millis;
    }

    CacheRecord reallocate(long cacheId, long capacity) {
        CacheRecord cache = caches.require(cacheId);
        if (capacity < 1) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT, "a capacity of " + capacity + " bytes; it is 1 to " + Long.MAX_VALUE);
        }
        tenants.requireLarger(cache, capacity);
        long missing = Caches.regions(capacity, cache.regionBytes()) - Caches.regions(cache.regions());
        if (missing <= 0 || cache.wanted() == capacity) {
            return cache;
        }
        if (moves.isMoving(cacheId) || cache.wanted() != 0) {
            throw new ControlException(
                    Code.BUSY,
                    "cache " + Caches.hex(cacheId)
                            + (cache.wanted() == 0
                                    ? " is leaving a server"
                                    : " is growing to " + cache.wanted() + " bytes")
                            + "; ask again in a moment");
        }
        return grow(cache, capacity, missing);
    }

    CacheRecord reserve(long cacheId, String address, int regions) {
        CacheRecord cache = caches.require(cacheId);
        if (regions < 1) {
            throw new ControlException(Code.INVALID_ARGUMENT, "room for " + regions + " regions; that is at least 1");
        }
        if (moves.isMoving(cacheId) || cache.wanted() != 0) {
            throw new ControlException(
                    Code.BUSY, "cache " + Caches.hex(cacheId) + " moves or grows already; ask again in a moment");
        }
        long now = nanos.getAsLong();
        Servers.Known server = roll.staying(address, now);
        if (server.record.regionBytes() != cache.regionBytes()) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "memory server " + address + " has regions of " + server.record.regionBytes() + " bytes, cache "
                            + Caches.hex(cacheId) + " of " + cache.regionBytes());
        }
        SortedMap<Long, Integer> reserved = new TreeMap<>(cache.reserved());
        int free = servers.unpromised(server) + reserved.getOrDefault(server.record.id(), 0);
        if (free < regions) {
            throw new ControlException(
                    Code.OUT_OF_MEMORY, "memory server " + address + " has " + free + " free regions, not " + regions);
        }
        reserved.put(server.record.id(), regions);
        CacheRecord reserving = cache.reserving(0, reserved);
        caches.put(reserving);
        moves.grows(cacheId, now);
        return reserving;
    }

    private CacheRecord grow(CacheRecord cache, long capacity, long missing) {
        long now = nanos.getAsLong();
        servers.stock(now);
        spares.refresh(now);
        CacheRecord wanting = cache.reserving(capacity, Collections.emptySortedMap());
        try {
            Placement more = allocator.more(
                    Caches.need(wanting, millis.getAsLong()),
                    cache.regionBytes(),
                    (int) Math.min(Integer.MAX_VALUE, missing),
                    List.copyOf(cache.regions().keySet()));
            CacheRecord growing = cache.reserving(capacity, more.regions());
            caches.put(growing);
            moves.grows(cache.id(), now);
            return growing;
        } catch (NoRoomException e) {
            long most = cache.regionBytes() * Caches.regions(cache.regions()) + e.most();
            throw new ControlException(
                    Code.OUT_OF_MEMORY,
                    "cache " + Caches.hex(cache.id()) + " cannot have " + capacity + " bytes, but " + most
                            + "; ask for less, or start servers with --manager",
                    e);
        }
    }

    CacheRecord moved(long cacheId, long generation, long capacity, List<Share> shares) {
        CacheRecord cache = caches.require(cacheId);
        SortedMap<Long, Integer> regions = regions(cache, shares);
        requireSensible(cache, capacity, regions);
        if (regions.equals(cache.regions())
                && capacity == cache.capacity()
                && cache.reserved().isEmpty()) {
            return cache;
        }
        if (generation != cache.generation()) {
            throw new ControlException(
                    Code.BUSY,
                    "cache " + Caches.hex(cacheId) + " is at generation " + cache.generation() + ", not " + generation
                            + "; another alert is on its way");
        }
        tenants.requireLarger(cache, capacity);
        CacheRecord after = cache.placed(capacity, regions);
        // What is left is planned by the next tick: a target that does not work is not asked at once again.
        moves.settled(cache, regions, nanos.getAsLong());
        caches.put(after);
        return after;
    }

    private SortedMap<Long, Integer> regions(CacheRecord cache, List<Share> shares) {
        SortedMap<Long, Integer> regions = new TreeMap<>();
        for (Share share : shares) {
            Servers.Known server = servers.of(cache, share.address());
            if (server == null) {
                throw new ControlException(
                        Code.INVALID_ARGUMENT,
                        "cache " + Caches.hex(cache.id()) + " was not told of server " + share.address() + "; it has "
                                + addresses(cache.regions()) + " and " + addresses(cache.reserved()));
            }
            regions.merge(server.record.id(), share.regions(), Integer::sum);
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
                    "cache " + Caches.hex(cache.id()) + " of " + capacity + " bytes has "
                            + Caches.regions(capacity, cache.regionBytes()) + " regions, not "
                            + Caches.regions(regions));
        }
    }

    private List<String> addresses(SortedMap<Long, Integer> regions) {
        return regions.keySet().stream().map(servers::address).toList();
    }
}
