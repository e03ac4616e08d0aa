package io.farheap.cache.session;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.verbs.DeviceLimits;

/**
 * Options that all sessions of a cache share, whatever the configuration.
 *
 * @param name of the cache
 * @param requests how many requests of a session may be between issue and callback
 * @param doorbellBatch work requests posted as one list; 1 posts each at once
 * @param patienceNanos how long a request waits for a connection before it is posted
 */
public record CacheSessionOptions(String name, int requests, int doorbellBatch, long patienceNanos) {

    private static final int MAX_REQUESTS = 1 << 16;
    private static final int COMPLETION_ENTRIES_PER_DEPTH = 16;
    private static final int MIN_COMPLETION_ENTRIES = 1024;
    private static final int RESERVED_ENTRIES = 256;

    public CacheSessionOptions {
        if (requests < 2 || requests > MAX_REQUESTS || Integer.bitCount(requests) != 1) {
            throw new IllegalArgumentException(
                    requests + " requests; it must be a power of two from 2 to " + MAX_REQUESTS);
        }
        if (doorbellBatch < 1) {
            throw new IllegalArgumentException(
                    "a doorbell batch of " + doorbellBatch + " work requests; it must be at least 1");
        }
    }

    /** How many work requests a session may have in flight on all its connections together. */
    int completionEntries(CacheConfiguration how, DeviceLimits limits) {
        int wanted = Math.max(MIN_COMPLETION_ENTRIES, how.queueDepth() * COMPLETION_ENTRIES_PER_DEPTH);
        return Math.min(wanted, limits.maxCompletionEntries() - RESERVED_ENTRIES);
    }
}
