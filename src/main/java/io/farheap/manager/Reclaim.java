package io.farheap.manager;

import java.util.List;

/**
 * Tells a client that its cache is to leave a server: the cache moves its regions there to the reserved targets, and
 * the client then confirms by {@link CacheManager#moved}. If the reason is {@link Reason#PRESSURE}, it moves as many as
 * there is room for at the targets, those that it uses least, and the others stay. If the server
 * {@linkplain Reason#LEAVES leaves}, regions that are still there when the time has passed are lost.
 *
 * @param generation of the cache
 * @param server address of the server to leave
 * @param withinMillis time until the server leaves, if it does
 * @param targets for as many regions as the cache has there, or as are to leave; empty if the cache grows, or makes a
 *     move of its own: its client gives that up and reports so, and then receives an alert with targets
 */
public record Reclaim(
        long cacheId, long generation, Reason reason, String server, long withinMillis, List<RegionShare> targets) {

    /** The reason why a cache leaves a server. */
    public enum Reason {
        /** The manager has asked the server to leave. */
        LEAVES,
        /** Such servers do not live much longer: nothing is lost if the cache stays for now. */
        ENDS_SOON,
        /** Another server costs less: nothing is lost if the cache stays. */
        CHEAPER,
        /** The server's machine wants memory back: nothing is lost if the cache stays. */
        PRESSURE
    }

    public Reclaim {
        targets = List.copyOf(targets);
        TextChecks.require("a server's address", server, CacheManager.MAX_TEXT_LENGTH);
    }
}
