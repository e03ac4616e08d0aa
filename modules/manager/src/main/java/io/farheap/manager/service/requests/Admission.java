package io.farheap.manager.service.requests;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.CachePlacement;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Tenants;
import io.farheap.manager.service.servers.FreeRoom;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.service.servers.SpotLives;
import io.farheap.manager.service.supply.SpareCapacity;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import java.util.Collections;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/** Finds servers for new caches. Guarded by the manager's lock. */
public final class Admission {

    private final Servers servers;
    private final SpareCapacity spares;
    private final Tenants tenants;
    private final Allocator allocator;
    private final SpotLives lives;
    private final LongSupplier nanos;
    private final LongSupplier millis;

    public Admission(
            Servers servers,
            SpareCapacity spares,
            Tenants tenants,
            Allocator allocator,
            SpotLives lives,
            LongSupplier nanos,
            LongSupplier millis) {
        this.servers = servers;
        this.spares = spares;
        this.tenants = tenants;
        this.allocator = allocator;
        this.lives = lives;
        this.nanos = nanos;
        this.millis = millis;
    }

    /** @throws ControlException INVALID_ARGUMENT if a repeated request has another capacity or tenant */
    public static void requireSame(CacheRecord known, CacheRequest request) {
        if (known.capacity() != request.capacity()) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + Caches.hex(known.id()) + " has " + known.capacity() + " bytes, not " + request.capacity()
                            + "; choose another id for another cache");
        }
        if (!known.terms().tenant().equals(request.tenant())) {
            throw new ControlException(
                    Code.INVALID_ARGUMENT,
                    "cache " + Caches.hex(known.id()) + " belongs to tenant "
                            + known.terms().tenant() + ", not " + request.tenant()
                            + "; choose another id for another cache");
        }
    }

    /**
     * Returns the cache with its servers. It is in none of the manager's tables yet.
     *
     * @throws ControlException OUT_OF_MEMORY if there is no room, which its cause says, or the tenant's quota does not
     *     allow the cache
     */
    public CacheRecord place(CacheRequest request) {
        tenants.requireNew(request.tenant(), request.capacity());
        servers.stock(nanos.getAsLong());
        spares.refresh(nanos.getAsLong());
        Need need = need(request);
        try (Servers.ServingTime _ = servers.serving(request.cacheId(), false)) {
            CachePlacement placement =
                    lives.preferLasting(need.avoidServers(), left -> allocator.place(need.avoiding(left)));
            AllocationTerms terms = new AllocationTerms(
                    request.place(),
                    placement.candidate().switches(),
                    placement.candidate().serverThreads(),
                    Caches.regions(request.capacity(), placement.regionBytes()),
                    expiry(request.lifetimeMillis()),
                    request.tenant());
            return new CacheRecord(
                    request.cacheId(),
                    request.name(),
                    request.capacity(),
                    0,
                    placement.regionBytes(),
                    terms,
                    1,
                    placement.regions(),
                    Collections.emptySortedMap());
        } catch (NoRoomException e) {
            throw new ControlException(
                    Code.OUT_OF_MEMORY, NoRoomMessage.of(allocator, need, e) + servers.sayHeldBack(), e);
        }
    }

    /** Returns where a new cache would get what it needs; empty if there is no room. */
    public Optional<FreeRoom> room(CacheRequest request) {
        try {
            CacheRecord cache = place(request);
            return Optional.of(new FreeRoom(cache.regions(), cache.threadsOfRegion()));
        } catch (ControlException e) {
            if (e.getCause() instanceof NoRoomException) {
                return Optional.empty();
            }
            throw e;
        }
    }

    public static Need need(CacheRequest request) {
        return new Need(
                request.capacity(),
                Caches.hours(request.lifetimeMillis()),
                NetworkLocation.parse(request.place()),
                request.candidates(),
                Set.of(),
                Set.of());
    }

    /** Returns the time of day at which a lifetime ends; 0 for never. */
    public long expiry(long lifetimeMillis) {
        return lifetimeMillis == 0 ? 0 : Math.addExact(millis.getAsLong(), lifetimeMillis);
    }
}
