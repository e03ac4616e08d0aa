package io.farheap.manager.service;

import io.farheap.manager.state.CacheRecord;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Caches that go: those that their clients give back, and those whose clients are gone. Its user has a lock around it.
 */
final class Removals {

    private static final System.Logger LOG = System.getLogger(Removals.class.getName());

    private final Caches caches;
    private final Servers servers;
    private final Clients clients;
    private final Moves moves;
    private final Endings endings;
    private final long started;
    private final long goneNanos;

    /**
     * @param started when this manager began to hear of servers
     * @param goneNanos for how long a server is silent before all leases on it are over
     */
    Removals(
            Caches caches,
            Servers servers,
            Clients clients,
            Moves moves,
            Endings endings,
            long started,
            long goneNanos) {
        this.caches = caches;
        this.servers = servers;
        this.clients = clients;
        this.moves = moves;
        this.endings = endings;
        this.started = started;
        this.goneNanos = goneNanos;
    }

    /** A client gives its cache back. */
    void remove(CacheRecord cache) {
        caches.remove(cache);
        clients.forget(cache.id());
        moves.forget(cache.id());
        endings.forget(cache.id());
    }

    /** Removes those whose clients were silent for long, and of which no server reports a lease. */
    void removeAbandoned(long now) {
        List<CacheRecord> abandoned = clients.abandoned(now).stream()
                .map(caches::find)
                .filter(Objects::nonNull)
                .filter(cache -> servers.allKnown(cache, now, started, goneNanos))
                .toList();
        if (abandoned.isEmpty() || !servers.anyHeard(now)) {
            return;
        }
        Set<Long> held = servers.held(now);
        for (CacheRecord cache : abandoned) {
            if (!held.contains(cache.id())) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "cache " + Caches.hex(cache.id()) + " of " + cache.name() + " is given up: its client is gone");
                remove(cache);
            }
        }
    }
}
