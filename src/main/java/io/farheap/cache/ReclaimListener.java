package io.farheap.cache;

import io.farheap.migration.MigrationResult;

/** Told what has become of a cache on a server that leaves. */
@FunctionalInterface
public interface ReclaimListener {

    /**
     * The manager's alert is here: a server leaves, and the cache now moves off it. On the thread that moves it, which
     * waits for this.
     *
     * @param server HOST:PORT
     * @param withinMillis how long it stayed yet when the manager said so
     */
    default void leaving(String server, long withinMillis) {}

    /**
     * The cache has left the server as far as it could, on a thread that the next reclaim waits for.
     *
     * @param server HOST:PORT
     * @param moved what has moved since the manager's alert
     * @param left regions that are still there, 0 as a rule; another alert comes when there is room for them
     */
    void reclaimed(String server, MigrationResult moved, int left);
}
