package io.farheap.cli.slo;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheConfiguration;
import io.farheap.latency.LatencyTracking;
import io.farheap.slo.Configuration;

/** Creates a cache anew for each configuration. */
final class CachePerConfiguration implements ConfiguredCache {

    private final String server;
    private final long capacity;
    private Cache cache;

    CachePerConfiguration(String server, long capacity) {
        this.server = server;
        this.capacity = capacity;
    }

    @Override
    public Cache use(Configuration configuration) {
        close();
        CacheConfiguration how = CacheConfiguration.DIRECT.with(configuration);
        cache = Cache.builder().capacity(capacity).servers(server).name("farheap-model").configuration(how).trackLatency(LatencyTracking.SPARSE).create();
        return cache;
    }

    @Override
    public void close() {
        if (cache != null) {
            cache.close();
            cache = null;
        }
    }
}
