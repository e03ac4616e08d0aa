package io.farheap.manager;

import java.util.List;

/**
 * A cache is to leave a server: what it has there is to move to where room has been reserved for it, and the client
 * then {@linkplain CacheManager#moved says} so. Where the server {@linkplain Reason#LEAVES leaves}, what is left when
 * the time is over is lost.
 *
 * @param generation of the cache
 * @param server the address of the one that leaves
 * @param withinMillis until the server leaves, where it does
 * @param targets for as many regions as the cache has there
 */
public record Reclaim(
        long cacheId, long generation, Reason reason, String server, long withinMillis, List<RegionShare> targets) {

    /** Why. */
    public enum Reason {
        /** The server has been told to. */
        LEAVES,
        /** Servers like it do not live much longer: nothing is lost if the cache stays for now. */
        ENDS_SOON,
        /** It costs less elsewhere: nothing is lost if the cache stays. */
        CHEAPER
    }

    public Reclaim {
        targets = List.copyOf(targets);
        TextChecks.require("a server's address", server, CacheManager.MAX_TEXT_LENGTH);
    }
}
