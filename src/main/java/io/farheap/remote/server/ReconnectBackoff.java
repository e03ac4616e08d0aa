package io.farheap.remote.server;

/**
 * When a connection that failed is made again: at once, and after a back-off of 5 ms to 1 s if it fails again before
 * anything has made progress over it. Times are those of {@link System#nanoTime}. One thread.
 */
public final class ReconnectBackoff {

    private static final long FIRST_NANOS = 5_000_000;
    private static final long MOST_NANOS = 1_000_000_000;
    /** A connection that has lasted this long was a good one. */
    private static final long GOOD_NANOS = 1_000_000_000;

    /** When it was connected last. */
    private long since;
    /** How often in succession it failed before anything made progress over it. */
    private int inVain;

    private long retryAt;
    private long backoff = FIRST_NANOS;

    /** @param now for a connection that has been good until now */
    public ReconnectBackoff(long now) {
        since = now - GOOD_NANOS;
    }

    /** The connection has failed. */
    public void fails(long now) {
        if (now - since >= GOOD_NANOS) {
            inVain = 0;
        }
        if (inVain++ == 0) {
            backoff = FIRST_NANOS;
            retryAt = now;
        } else {
            retryAt = later(now);
        }
    }

    private long later(long now) {
        long at = now + backoff;
        backoff = Math.min(2 * backoff, MOST_NANOS);
        return at;
    }

    /** When the connection may be made again. */
    long retryAt() {
        return retryAt;
    }

    /** Whether the connection may be made again now. */
    public boolean due(long now) {
        return now - retryAt >= 0;
    }

    /** The attempt to make it again has ended. */
    public void ended(boolean connected, long now) {
        if (connected) {
            since = now;
        } else {
            retryAt = later(now);
        }
    }

    /** Something made progress over the connection, or it needs no more proof that it works. */
    public void works() {
        inVain = 0;
    }

    /** How often in succession it failed before anything made progress over it. */
    public int inVain() {
        return inVain;
    }
}
