package io.farheap.manager.client;

import io.farheap.manager.CacheDescription;
import io.farheap.manager.Reclaim;

/** The manager's messages to a cache, on a thread that they must not block. Each may be received more than once. */
public interface CacheAlerts {

    /** The cache is to leave a server. */
    void reclaim(Reclaim alert);

    /**
     * The cache's lifetime is nearly over or has ended.
     *
     * @param leftMillis 0 or more
     */
    void expiring(long leftMillis);

    /**
     * The cache's lifetime had ended, and other caches needed its room: its servers take its regions back.
     *
     * @param why a sentence
     */
    void ended(String why);

    /** Some of the cache's regions cannot leave a server before that ends, unless something changes. */
    void late(CacheDescription.LateMove move);

    /**
     * A server wants regions back for its machine, and some of the cache's find no room elsewhere: they stay.
     *
     * @param server HOST:PORT
     * @param regions how many, at least 1
     */
    void wanted(String server, int regions);

    /** The manager does not know the cache: if it exists, it is to be claimed. */
    void unknown();

    /**
     * One of the cache's servers has not reported to the manager for a while, or was restarted. Advice: the cache's
     * lease on it decides.
     *
     * @param server HOST:PORT
     */
    void lost(String server);
}
