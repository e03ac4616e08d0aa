package io.farheap.cache;

import io.farheap.manager.Reclaim;
import io.farheap.migration.MigrationResult;
import java.time.Duration;

/** Called when a cache, or a part of it, moves off a server that is about to leave, or that wants memory back. */
@FunctionalInterface
public interface ReclaimListener {

    /**
     * The manager's alert has arrived, and the cache is about to move off the server that it names. Called on the
     * thread that moves the cache, which waits for this.
     */
    default void reclaiming(Reclaim alert) {}

    /**
     * Some regions cannot leave a server before it ends, as the manager expects: there is too little time, or no room
     * for them elsewhere. What can be done without them is worth doing now; other regions continue to move. Called on a
     * thread of its own, again if twice as many cannot, and again after the process has connected to another manager.
     *
     * @param server HOST:PORT
     * @param regions how many cannot leave
     * @param left the time until the server ends
     */
    default void late(String server, int regions, Duration left) {}

    /**
     * A server's machine wants memory back, and no other server has room for some of the cache's regions there. They
     * stay, and nothing is lost. Called on a thread of its own, once while that lasts, again if twice as many find no
     * room, and again after the process has connected to another manager.
     *
     * @param server HOST:PORT
     * @param regions how many find no room
     */
    default void wanted(String server, int regions) {}

    /**
     * The cache has moved off the server as far as it could, or was to. Called on a thread that the next reclaim waits
     * for.
     *
     * @param server HOST:PORT
     * @param moved the regions that have moved since the manager's alert
     * @param left regions that are still on the server; usually 0 if it leaves, and the manager sends another alert
     *     when it has room for them; if its machine wants memory back, all but those that were to leave
     */
    void reclaimed(String server, MigrationResult moved, int left);
}
