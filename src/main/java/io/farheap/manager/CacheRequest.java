package io.farheap.manager;

import io.farheap.control.plane.ControlPlane;
import io.farheap.control.text.PrintableText;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request for a cache.
 *
 * @param cacheId random, not 0; the same one if the call is repeated
 * @param clientId of the process
 * @param name for people; printable
 * @param capacity bytes
 * @param lifetimeMillis how long it is needed; 0 for ever
 * @param place of the client, in the form of a server's: DC/CLUSTER/RACK; empty if unknown
 * @param candidates the configurations that meet its objective, of which the manager chooses one;
 *     {@link AllocationCandidate#ANY} for a cache without an objective
 * @param tenant its owner, as {@link Tenant#name(String)} returns it
 */
public record CacheRequest(
        long cacheId,
        long clientId,
        String name,
        long capacity,
        long lifetimeMillis,
        String place,
        List<AllocationCandidate> candidates,
        String tenant) {

    /** A thousand thread counts for each distance; more are not sensible. */
    public static final int MAX_CANDIDATES = 3_000;

    /** A hundred years. */
    private static final long MAX_LIFETIME_MILLIS = 100L * 366 * 86_400_000;

    /** A request of the default tenant. */
    public CacheRequest(
            long cacheId,
            long clientId,
            String name,
            long capacity,
            long lifetimeMillis,
            String place,
            List<AllocationCandidate> candidates) {
        this(cacheId, clientId, name, capacity, lifetimeMillis, place, candidates, Tenant.DEFAULT);
    }

    public CacheRequest {
        tenant = Tenant.name(tenant);
        if (cacheId == ControlPlane.NO_CACHE) {
            throw new IllegalArgumentException("a cache id of 0; it is a random number, and not 0");
        }
        if (capacity < 1) {
            throw new IllegalArgumentException(
                    "a capacity of " + Long.toUnsignedString(capacity) + " bytes; it is 1 to " + Long.MAX_VALUE);
        }
        requireLifetime(lifetimeMillis);
        candidates = List.copyOf(candidates);
        if (candidates.isEmpty() || candidates.size() > MAX_CANDIDATES) {
            throw new IllegalArgumentException(
                    candidates.size() + " configurations of a cache; there are 1 to " + MAX_CANDIDATES);
        }
        PrintableText.require("a client's place", place, CacheManager.MAX_TEXT_LENGTH);
        TextChecks.require("a cache's name", name, ControlPlane.MAX_NAME_LENGTH);
    }

    /**
     * A lifetime in ms.
     *
     * @param likely null, or longer than a long can represent, for ever
     * @return 0 for ever
     * @throws IllegalArgumentException if it is less than 1 ms
     */
    public static long millis(@Nullable Duration likely) {
        if (likely == null) {
            return 0;
        }
        long millis = TimeUnit.MILLISECONDS.convert(likely);
        if (millis < 1) {
            throw new IllegalArgumentException(
                    "a cache for " + likely + "; it must be at least 1 ms, or null if it is not known");
        }
        return millis == Long.MAX_VALUE ? 0 : millis;
    }

    /**
     * Checks a lifetime.
     *
     * @throws IllegalArgumentException if it is less than 0, or more than a hundred years
     */
    public static void requireLifetime(long millis) {
        if (millis < 0 || millis > MAX_LIFETIME_MILLIS) {
            throw new IllegalArgumentException(
                    "a lifetime of " + millis + " ms; it is at most " + MAX_LIFETIME_MILLIS + ", and 0 is for ever");
        }
    }
}
