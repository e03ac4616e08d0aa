package io.farheap.bench.peers;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.farheap.bench.ycsb.DataSet;
import io.farheap.bench.ycsb.LocalCache;
import io.farheap.bench.ycsb.LocalCacheProvider;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Caffeine as the local cache of a store: a map of objects on the heap, bounded by the number of its entries. */
public final class CaffeineProvider implements LocalCacheProvider {

    /**
     * Of an entry of a Caffeine cache that is bounded by size, with compressed references: its node, that of the hash
     * table and its place there, the key, and its counters in the frequency sketch.
     */
    private static final long ENTRY_BYTES = 40 + 32 + 8 + 16 + 8;

    private static final long LONG_BYTES = 16;
    private static final long ARRAY_HEADER_BYTES = 16;

    @Override
    public LocalCache open(DataSet data, long bytes) {
        long value = data.valueBytes() == Long.BYTES ? LONG_BYTES : ARRAY_HEADER_BYTES + data.valueBytes();
        Cache<Long, Object> cache = Caffeine.newBuilder()
                .maximumSize(Math.max(1, bytes / (ENTRY_BYTES + value)))
                .build();
        return new CaffeineValues(cache, data.valueBytes());
    }

    private record CaffeineValues(Cache<Long, Object> cache, int valueBytes) implements LocalCache {

        @Override
        public boolean get(long key, MemorySegment into) {
            Object value = cache.getIfPresent(key);
            switch (value) {
                case null -> {
                    return false;
                }
                case Long word -> into.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, word);
                default -> MemorySegment.copy((byte[]) value, 0, into, ValueLayout.JAVA_BYTE, 0, valueBytes);
            }
            return true;
        }

        @Override
        public void put(long key, MemorySegment from, long offset) {
            if (valueBytes == Long.BYTES) {
                cache.put(key, from.get(ValueLayout.JAVA_LONG_UNALIGNED, offset));
            } else {
                cache.put(key, from.asSlice(offset, valueBytes).toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }
}
