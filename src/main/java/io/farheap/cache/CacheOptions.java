package io.farheap.cache;

import io.farheap.control.ControlPlane;
import io.farheap.latency.LatencyTracking;
import io.farheap.migration.MigrationOptions;
import io.farheap.resilience.Health;
import io.farheap.verbs.DeviceLimits;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * How a cache is created; made by {@link CacheBuilder}.
 *
 * @param capacity bytes, rounded up to whole regions of the servers
 * @param servers HOST:PORT of memory servers; regions are spread over them evenly
 * @param device name of the RDMA device, empty for the first that serves
 * @param file whose first {@code capacity} bytes fill the cache, or null
 * @param loaded told how many bytes of the file have been loaded so far, on the creating thread; or null
 * @param name of the client, for servers' logs and thread names
 * @param configuration how requests travel
 * @param requests requests of a session between issue and callback
 * @param doorbellBatch work requests posted as one list; 1 posts each at once
 * @param latencyTracking which requests sessions time
 * @param lostListener told when a server is lost, on a thread that it must not hold; or null
 * @param migration how regions move
 * @param tuning where the configuration was found for an objective, or null
 * @param management where a manager has found the servers, or null
 * @param healthListener of a coded cache, or null
 */
record CacheOptions(
        long capacity,
        List<String> servers,
        String device,
        @Nullable Path file,
        @Nullable LongConsumer loaded,
        String name,
        CacheConfiguration configuration,
        int requests,
        int doorbellBatch,
        LatencyTracking latencyTracking,
        @Nullable LostServerListener lostListener,
        MigrationOptions migration,
        @Nullable Tuning tuning,
        @Nullable Management management,
        @Nullable Consumer<Health> healthListener) {

    private static final int MAX_REQUESTS = 1 << 16;
    private static final int COMPLETION_ENTRIES_PER_DEPTH = 16;
    private static final int MIN_COMPLETION_ENTRIES = 1024;
    private static final int RESERVED_ENTRIES = 256;

    CacheOptions {
        if (capacity < 1) {
            throw new IllegalArgumentException("a capacity of " + capacity + " bytes; it must be at least 1");
        }
        if (servers.isEmpty()) {
            throw new IllegalArgumentException(
                    "a cache needs at least one memory server, or a manager that finds some, as HOST:PORT");
        }
        if (requests < 2 || requests > MAX_REQUESTS || Integer.bitCount(requests) != 1) {
            throw new IllegalArgumentException(
                    requests + " requests; it must be a power of two from 2 to " + MAX_REQUESTS);
        }
        if (doorbellBatch < 1) {
            throw new IllegalArgumentException(
                    "a doorbell batch of " + doorbellBatch + " work requests; it must be at least 1");
        }
        servers = List.copyOf(servers);
    }

    /** As its servers know it. */
    long cacheId() {
        return management == null ? ControlPlane.NO_CACHE : management.cacheId();
    }

    /** Work requests that a session may have in flight over all its connections. */
    int completionEntries(CacheConfiguration how, DeviceLimits limits) {
        int wanted = Math.max(MIN_COMPLETION_ENTRIES, how.queueDepth() * COMPLETION_ENTRIES_PER_DEPTH);
        return Math.min(wanted, limits.maxCompletionEntries() - RESERVED_ENTRIES);
    }
}
