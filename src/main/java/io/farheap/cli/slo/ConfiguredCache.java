package io.farheap.cli.slo;

import io.farheap.cache.Cache;
import io.farheap.slo.Configuration;

/** A cache that is switched from one configuration to another. */
interface ConfiguredCache extends AutoCloseable {

    /** The cache, running with this configuration until the next call. No session of it may be open. */
    Cache use(Configuration configuration);

    @Override
    void close();
}
