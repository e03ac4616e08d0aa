package io.farheap.cache;

import io.farheap.cache.contract.Status;

/** Told that a memory server died or took its memory back without a migration. */
@FunctionalInterface
public interface LostServerListener {

    /**
     * @param server HOST:PORT
     * @param cause in words
     * @param regions how many regions of the cache were there: requests to them end with {@link Status#LOST}; of a
     *     coded cache slabs, which it may do without
     */
    void serverLost(String server, String cause, int regions);
}
