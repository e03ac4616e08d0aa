package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import java.util.List;
import java.util.stream.IntStream;

/** A managed cache comes to servers and leaves them, as its manager has planned it. Any thread. */
final class ManagedServers {

    private static final System.Logger LOG = System.getLogger(ManagedServers.class.getName());

    private final Grants grants;
    private final String name;

    ManagedServers(Grants grants, String name) {
        this.grants = grants;
        this.name = name;
    }

    /**
     * To a server that the manager has granted something on, also where the cache has it already.
     *
     * @return whether it was not
     */
    boolean connect(ManagedCache cache, String server) {
        if (!cache.serves(server)) {
            cache.addServer(server);
            return true;
        }
        grants.show(server, grant -> {
            cache.showGrant(server, grant);
            return server;
        });
        return false;
    }

    /** A server that got nothing is not to wait for this cache's lease when it leaves. */
    void leaveUnused(ManagedCache cache, String server) {
        try {
            if (cache.serves(server) && regionsOn(cache, server).isEmpty()) {
                cache.retire(server);
            }
        } catch (CacheException | ControlException | IllegalStateException e) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "cache " + name + " stays connected to memory server " + server + ": " + e.getMessage());
        }
    }

    /** Regions that are on a server, or some of them. */
    static List<Integer> regionsOn(ManagedCache cache, String server) {
        return cache.unmoved(() -> IntStream.range(0, cache.regions())
                .filter(region -> cache.uses(region, server))
                .boxed()
                .toList());
    }
}
