package io.farheap.manager;

/**
 * A client's answer to a {@link Reclaim}: it has tried to move all regions off that server. Times are from the report
 * back, so that the clocks of client and manager need not agree.
 *
 * @param server address of the server that the alert has named
 * @param beganMillisAgo time since the first region began to move, in ms; 0 if none has moved
 * @param endedMillisAgo time since the last region has moved, in ms; at most {@code beganMillisAgo}
 */
public record ReclaimOutcome(String server, long beganMillisAgo, long endedMillisAgo) {

    public ReclaimOutcome {
        TextChecks.require("a server's address", server, CacheManager.MAX_TEXT_LENGTH);
        if (endedMillisAgo < 0 || beganMillisAgo < endedMillisAgo) {
            throw new IllegalArgumentException("moves that began " + beganMillisAgo + " ms ago and ended "
                    + endedMillisAgo + " ms ago; they begin before they end");
        }
    }

    /** The answer of a client that has moved nothing. */
    public static ReclaimOutcome nothing(String server) {
        return new ReclaimOutcome(server, 0, 0);
    }
}
