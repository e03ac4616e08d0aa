package io.farheap.cache;

import io.farheap.migration.MigrationResult;

/** Told what has become of a cache on a server that leaves. */
@FunctionalInterface
public interface ReclaimListener {

    /**
     * The cache has left the server as far as it could, on a thread that the next reclaim waits for.
     *
     * @param server HOST:PORT
     * @param moved what has moved since the manager's alert
     * @param left regions that are still there, 0 as a rule; another alert comes when there is room for them
     */
    void reclaimed(String server, MigrationResult moved, int left);
}
