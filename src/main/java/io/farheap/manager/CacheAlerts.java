package io.farheap.manager;

/** What a cache hears from its manager, on a thread that it must not hold. Both may come more than once. */
public interface CacheAlerts {

    /** The cache is to leave a server. */
    void reclaim(Reclaim alert);

    /**
     * The cache's time is nearly over, or is over.
     *
     * @param leftMillis 0 or more
     */
    void expiring(long leftMillis);
}
