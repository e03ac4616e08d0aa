package io.farheap.manager.service;

import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.Terms;
import java.util.HashMap;
import java.util.Map;

/** Tells clients of caches whose time is nearly over. Its user has a lock around it. */
final class Expiry {

    /** So long before the end. */
    private static final long BEFORE_MILLIS = 30_000;

    private final Caches caches;
    private final Clients clients;
    /** The end that each client has heard of, and over which line. */
    private final Map<Long, Told> told = new HashMap<>();

    private record Told(Clients.Line line, long expiresAtMillis) {}

    Expiry(Caches caches, Clients clients) {
        this.caches = caches;
        this.clients = clients;
    }

    void alert(long millis) {
        told.keySet().removeIf(cache -> caches.find(cache) == null);
        for (CacheRecord cache : caches.all()) {
            Terms terms = cache.terms();
            long left = terms.expiresAtMillis() - millis;
            if (terms.expiresAtMillis() == 0 || left > BEFORE_MILLIS) {
                continue;
            }
            Clients.Line line = clients.line(cache.id());
            if (line == null || !caches.isWritten(cache.id())) {
                continue;
            }
            Told now = new Told(line, terms.expiresAtMillis());
            if (!now.equals(told.put(cache.id(), now))) {
                line.tell(listener -> listener.expiring(cache.id(), Math.max(0, left)));
            }
        }
    }
}
