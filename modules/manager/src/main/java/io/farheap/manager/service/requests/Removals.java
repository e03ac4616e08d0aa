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

/**
 * Caches that go: those that their clients give back, and those whose clients are gone. Its user has a lock around it.
 */
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
     * Removes those whose clients were silent for long, and of which each server has said since that it holds no lease.
     * That a server is not heard says nothing: the client may be cut off together with it.
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
        Set<Long> held = held();
        for (CacheRecord cache : abandoned) {
            if (!held.contains(cache.id())) {
                LOG.log(
                        System.Logger.Level.WARNING,
                        "cache " + Caches.hex(cache.id()) + " of " + cache.name() + " is given up: its client is gone");
                remove(cache);
            }
        }
    }

    /** Whether all servers of an abandoned cache have said since what they have of it, or are gone. */
    private boolean isKnown(CacheRecord cache) {
        Long since = clients.abandonedSince(cache.id());
        return servers.of(cache)
                .allMatch(server -> server.report != null && (since == null || server.reportedAt - since > 0)
                        || servers.isGone(server));
    }

    /** Caches of which some server that is not gone has said last that they have a lease there. */
    private Set<Long> held() {
        return servers.all()
                .filter(server -> server.report != null && !servers.isGone(server))
                .flatMap(server -> Objects.requireNonNull(server.report).held().keySet().stream())
                .collect(Collectors.toSet());
    }
}
