package io.farheap.bench.ycsb;

/** Opens a cache that needs a library of its own; a service. */
public interface LocalCacheProvider {

    /**
     * Opens an empty cache.
     *
     * @param bytes of local memory that it may have, what its entries cost included
     */
    LocalCache open(DataSet data, long bytes);
}
