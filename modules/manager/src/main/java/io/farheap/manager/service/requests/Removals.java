package io.farheap.manager.service.requests;

import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.caches.Clients;
import io.farheap.manager.service.caches.ExpiredCacheReclaimer;
import io.farheap.manager.service.moves.PlannedMoves;
import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.CacheRecord;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Removes caches that their clients give back, and caches of clients that are gone. Guarded by the manager's lock. */
public final class Removals {

    private static final System.Logger LOG = System.getLogger(Removals.class.getName());

    private final Caches caches;
    private final Servers servers;
    private final Clients clients;
    private final PlannedMoves moves;
    private final ExpiredCacheReclaimer endings;

    public Removals(
            Caches caches, Servers servers, Clients clients, PlannedMoves moves, ExpiredCacheReclaimer endings) {
        this.caches = caches;
        this.servers = servers;
        this.clients = clients;
        this.moves = moves;
        this.endings = endings;
    }

    /** A client gives its cache back. */
    public void remove(CacheRecord cache) {
        caches.remove(cache);
        clients.forget(cache.id());
        moves.forget(cache.id());
        endings.forget(cache.id());
    }

    /**
     * Removes caches whose clients were silent for long, if each of their servers has reported since then that it holds
     * no lease for them. A silent server proves nothing: the client may be cut off together with it.
     */
    public void removeAbandoned(long now) {
        List<CacheRecord> abandoned = clients.abandoned(now).stream()
                .map(caches::find)
                .filter(Objects::nonNull)
                .filter(this::isKnown)
                .toList();
        if (abandoned.isEmpty()) {
            return;
        }
        Set<Long> held = held(abandoned.stream().map(CacheRecord::id).collect(Collectors.toSet()));
        for (CacheRecord cache : abandoned) {
            if (!held.contains(cache.id())) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "cache " + Caches.hex(cache.id()) + " of " + cache.name() + " is given up: its client is gone");
                remove(cache);
            }
        }
    }

    /** Whether each server of an abandoned cache has reported its leases since, or is gone. */
    private boolean isKnown(CacheRecord cache) {
        Long since = clients.abandonedSince(cache.id());
        return servers.of(cache)
                .allMatch(server -> server.report != null && (since == null || server.reportedAt - since > 0)
                        || servers.isGone(server));
    }

    /** Returns those of some caches for which some server that is not gone has last reported a lease. */
    private Set<Long> held(Set<Long> some) {
        return servers.all()
                .filter(server -> server.report != null && !servers.isGone(server))
                .flatMap(server -> Objects.requireNonNull(server.report).held().keySet().stream())
                .filter(some::contains)
                .collect(Collectors.toSet());
    }
}
