package io.farheap.manager;

import java.util.List;

/**
 * A server is about to leave: what a cache has on it is to move to where room has been reserved for it, and the client
 * then {@linkplain CacheManager#moved says} so. What is left when the time is over is lost.
 *
 * @param generation of the cache
 * @param server the address of the one that leaves
 * @param withinMillis until it does
 * @param targets for as many regions as the cache has there
 */
public record Reclaim(long cacheId, long generation, String server, long withinMillis, List<Share> targets) {

    public Reclaim {
        targets = List.copyOf(targets);
        Texts.require("a server's address", server, CacheManager.MAX_TEXT_LENGTH);
    }
}
