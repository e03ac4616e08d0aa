package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import java.util.List;
import java.util.stream.IntStream;

/** Connects a managed cache to servers and makes it leave them, as its manager has planned. Any thread. */
final class ManagedServers {

    private static final System.Logger LOG = System.getLogger(ManagedServers.class.getName());

    private final Grants grants;
    private final String name;

    ManagedServers(Grants grants, String name) {
        this.grants = grants;
        this.name = name;
    }

    /**
     * Connects a cache to a server that the manager has granted it regions on, or shows the new grant if the cache uses
     * the server already.
     *
     * @return whether the cache did not use the server before
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

    /**
     * Leaves a server that has no region of the cache, so that the server need not wait for the cache's lease when it
     * shuts down.
     */
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

    /** The regions that are on a server, at least in part. */
    static List<Integer> regionsOn(ManagedCache cache, String server) {
        return cache.unmoved(() -> IntStream.range(0, cache.regions())
                .filter(region -> cache.uses(region, server))
                .boxed()
                .toList());
    }
}
