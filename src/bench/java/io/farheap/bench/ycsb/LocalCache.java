package io.farheap.bench.ycsb;

import java.lang.foreign.MemorySegment;

/** A cache of records in this process's memory, in place of a store's own read cache. Any thread. */
public interface LocalCache {

    /** Copies a key's value to {@code into}, and returns whether the cache has one. */
    boolean get(long key, MemorySegment into);

    /** Copies a key's value from {@code from} at {@code offset}; other keys may lose theirs. */
    void put(long key, MemorySegment from, long offset);
}
