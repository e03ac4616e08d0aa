package io.farheap.manager.service;

import io.farheap.manager.Allocation;
import io.farheap.manager.CacheDescription;
import io.farheap.manager.Candidate;
import io.farheap.manager.state.CacheRecord;
import java.util.function.LongSupplier;

/** What clients are told of caches, with grants that are to be signed. Its user has a lock around it. */
final class Answers {

    private final Servers servers;
    private final LongSupplier millis;

    /** @param millis the time of day */
    Answers(Servers servers, LongSupplier millis) {
        this.servers = servers;
        this.millis = millis;
    }

    Allocation allocation(CacheRecord cache) {
        return new Allocation(
                cache.id(),
                cache.generation(),
                cache.capacity(),
                cache.regionBytes(),
                new Candidate(cache.terms().switches(), cache.terms().serverThreads()),
                servers.shares(cache, cache.regions()),
                servers.shares(cache, cache.reserved()));
    }

    CacheDescription description(CacheRecord cache) {
        long expires = cache.terms().expiresAtMillis();
        return new CacheDescription(
                allocation(cache),
                cache.name(),
                expires == 0 ? 0 : Math.max(1, expires - millis.getAsLong()),
                cache.terms().tenant());
    }
}
