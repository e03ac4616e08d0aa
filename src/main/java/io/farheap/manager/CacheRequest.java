package io.farheap.manager;

import io.farheap.control.ControlPlane;

/**
 * What a cache is to have.
 *
 * @param cacheId random, not 0; the same where the call is repeated
 * @param clientId of the process
 * @param name for people; printable
 * @param capacity bytes
 * @param lifetimeMillis how long it is needed; 0 for ever
 */
public record CacheRequest(long cacheId, long clientId, String name, long capacity, long lifetimeMillis) {

    /** A hundred years. */
    private static final long MAX_LIFETIME_MILLIS = 100L * 366 * 86_400_000;

    public CacheRequest {
        if (cacheId == ControlPlane.NO_CACHE) {
            throw new IllegalArgumentException("a cache id of 0; it is a random number, and not 0");
        }
        if (capacity < 1) {
            throw new IllegalArgumentException(
                    "a capacity of " + Long.toUnsignedString(capacity) + " bytes; it is 1 to " + Long.MAX_VALUE);
        }
        if (lifetimeMillis < 0 || lifetimeMillis > MAX_LIFETIME_MILLIS) {
            throw new IllegalArgumentException("a lifetime of " + lifetimeMillis + " ms; it is at most "
                    + MAX_LIFETIME_MILLIS + ", and 0 is for ever");
        }
        Texts.require("a cache's name", name, ControlPlane.MAX_NAME_LENGTH);
    }
}
