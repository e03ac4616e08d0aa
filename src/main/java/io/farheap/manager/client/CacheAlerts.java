package io.farheap.manager.client;

import io.farheap.manager.Reclaim;

/** What a cache hears from its manager, on a thread that it must not hold. All may come more than once. */
public interface CacheAlerts {

    /** The cache is to leave a server. */
    void reclaim(Reclaim alert);

    /**
     * The cache's time is nearly over, or is over.
     *
     * @param leftMillis 0 or more
     */
    void expiring(long leftMillis);

    /**
     * The cache's time was over, and others needed its room: its servers take back what it has.
     *
     * @param why a sentence
     */
    void ended(String why);

    /**
     * The manager has not heard of one of the cache's servers for a while, or it was started anew. Advice: the cache's
     * lease on it decides.
     *
     * @param server HOST:PORT
     */
    void lost(String server);
}
