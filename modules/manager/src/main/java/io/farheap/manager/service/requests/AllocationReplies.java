package io.farheap.manager.service.requests;

import io.farheap.manager.Allocation;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.service.caches.ExpiryNotifier;
import io.farheap.manager.service.moves.PlannedMoves;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.CacheRecord;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Builds the answers that clients receive about caches, with grants that are still to be signed. Guarded by the
 * manager's lock.
 */
public final class AllocationReplies {

    private final Servers servers;
    private final ExpiryNotifier expiry;
    private final PlannedMoves moves;
    private final LongSupplier nanos;
    private final LongSupplier millis;

    /** @param millis the time of day */
    public AllocationReplies(
            Servers servers, ExpiryNotifier expiry, PlannedMoves moves, LongSupplier nanos, LongSupplier millis) {
        this.moves = moves;
        this.nanos = nanos;
        this.expiry = expiry;
        this.servers = servers;
        this.millis = millis;
    }

    public Allocation allocation(CacheRecord cache) {
        return new Allocation(
                cache.id(),
                cache.generation(),
                cache.capacity(),
                cache.regionBytes(),
                candidate(cache),
                servers.shares(cache, cache.regions()),
                servers.shares(cache, cache.reserved()),
                cache.plan() == null
                        ? List.of()
                        : cache.plan().left().stream().map(servers::address).toList());
    }

    /** Returns the configuration that the cache has, or will have. */
    private static AllocationCandidate candidate(CacheRecord cache) {
        return cache.plan() == null ? Reallocations.candidate(cache.terms()) : Reallocations.candidate(cache.plan());
    }

    public CacheDescription description(CacheRecord cache) {
        long expires = cache.terms().expiresAtMillis();
        return new CacheDescription(
                allocation(cache),
                cache.name(),
                expires == 0 ? 0 : Math.max(1, expiry.left(cache, millis.getAsLong())),
                cache.terms().tenant(),
                moves.late(cache, nanos.getAsLong()));
    }
}
