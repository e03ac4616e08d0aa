package io.farheap.cache;

import io.farheap.manager.Reclaim;
import io.farheap.migration.MigrationResult;

/** Told what has become of a cache on a server that leaves. */
@FunctionalInterface
public interface ReclaimListener {

    /**
     * The manager's alert is here, and the cache now moves off the server that it names. On the thread that moves it,
     * which waits for this.
     */
    default void reclaiming(Reclaim alert) {}

    /**
     * The cache has left the server as far as it could, on a thread that the next reclaim waits for.
     *
     * @param server HOST:PORT
     * @param moved what has moved since the manager's alert
     * @param left regions that are still there, 0 as a rule; another alert comes when there is room for them
     */
    void reclaimed(String server, MigrationResult moved, int left);
}
