package io.farheap.cache;

import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.managed.ManagedCacheClient;
import io.farheap.cache.objective.Tuning;
import io.farheap.cache.session.CacheSessionOptions;
import io.farheap.latency.LatencyTracking;
import io.farheap.migration.MigrationOptions;
import io.farheap.resilience.contract.Health;
import io.farheap.verbs.PortOptions;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * How a cache is created; made by {@link CacheBuilder}.
 *
 * @param capacity bytes, for which the cache takes whole regions of the servers
 * @param servers HOST:PORT of memory servers; regions are spread over them evenly
 * @param device the RDMA device and its port, and how connections leave it
 * @param file whose first {@code capacity} bytes fill the cache, or null
 * @param loaded receives how many bytes of the file have been loaded so far, on the creating thread; or null
 * @param configuration how requests travel
 * @param session options of all its sessions, with the client's name for servers' logs and thread names
 * @param latencyTracking which requests sessions time
 * @param lostListener called when a server is lost, on a thread that it must not hold; or null
 * @param migration how regions move
 * @param tuning the objective and how the configuration was found, or null
 * @param management the cache's client of the manager that found its servers, or null
 * @param healthListener of a coded cache, or null
 */
record CacheOptions(
        long capacity,
        List<String> servers,
        PortOptions device,
        @Nullable Path file,
        @Nullable LongConsumer loaded,
        CacheConfiguration configuration,
        CacheSessionOptions session,
        LatencyTracking latencyTracking,
        @Nullable LostServerListener lostListener,
        MigrationOptions migration,
        @Nullable Tuning tuning,
        @Nullable ManagedCacheClient management,
        @Nullable Consumer<Health> healthListener) {

    CacheOptions {
        if (capacity < 1) {
            throw new IllegalArgumentException("a capacity of " + capacity + " bytes; it must be at least 1");
        }
        if (servers.isEmpty()) {
            throw new IllegalArgumentException(
                    "a cache needs at least one memory server, or a manager that finds some, as HOST:PORT");
        }
        servers = List.copyOf(servers);
    }

    String name() {
        return session.name();
    }
}
