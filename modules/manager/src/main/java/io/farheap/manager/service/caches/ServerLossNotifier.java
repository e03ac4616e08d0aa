package io.farheap.manager.service.caches;

import io.farheap.manager.service.servers.Servers;
import io.farheap.manager.state.CacheRecord;
import java.util.HashMap;
import java.util.Map;

/**
 * Notifies clients that a server of theirs is silent or was restarted, once over each line. It is advice, after which
 * they ask the server at once: only their lease decides. Guarded by the manager's lock.
 */
public final class ServerLossNotifier {

    private final Caches caches;
    private final Servers servers;
    private final Clients clients;
    /** By server: the line over which the client of each cache was notified of its loss. */
    private final Map<Long, Map<Long, Clients.ClientLine>> told = new HashMap<>();

    public ServerLossNotifier(Caches caches, Servers servers, Clients clients) {
        this.caches = caches;
        this.servers = servers;
        this.clients = clients;
    }

    /** @param mayBeDeaf whether this manager has not listened for long enough to count a server as silent */
    public void alert(long now, boolean mayBeDeaf) {
        if (mayBeDeaf || !servers.anyHeard(now)) {
            return;
        }
        told.keySet().removeIf(id -> {
            Servers.KnownServer server = servers.find(id);
            return server == null || !servers.isSilent(server, now);
        });
        servers.silent(now).forEach(this::tell);
    }

    private void tell(Servers.KnownServer server) {
        long id = server.record.id();
        for (long cacheId : server.caches()) {
            CacheRecord cache = caches.find(cacheId);
            Clients.ClientLine line = clients.line(cacheId);
            if (cache == null || line == null || !cache.regions().containsKey(id)) {
                continue;
            }
            if (told.computeIfAbsent(id, _ -> new HashMap<>()).put(cacheId, line) != line) {
                line.tell(listener -> listener.lost(cacheId, server.record.address()));
            }
        }
    }
}
