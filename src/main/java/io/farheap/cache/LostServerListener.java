package io.farheap.cache;

import io.farheap.cache.contract.Status;

/** Called when a memory server has died, or has taken its memory back without a migration. */
@FunctionalInterface
public interface LostServerListener {

    /**
     * Called once for each lost lease, after the sessions' connections to that server have been failed, on a thread of
     * its own. A close of the cache waits a while for it.
     *
     * @param server HOST:PORT
     * @param cause a description for people
     * @param regions how many regions of the cache the server had: requests to them end with {@link Status#LOST}. For a
     *     coded cache, slabs, whose loss it may survive
     */
    void serverLost(String server, String cause, int regions);
}
