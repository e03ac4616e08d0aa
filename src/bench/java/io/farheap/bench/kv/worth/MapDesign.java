package io.farheap.bench.kv.worth;

import io.farheap.kv.replacement.FrequencyCounterCache;

/**
 * How a map of the benchmark knows what to evict, and which parts of Ditto's it lacks.
 *
 * @param shards LRU lists
 * @param backOffNanos after a lock was found taken; 0 tries again at once
 * @param lacking a bit for each {@link Part}
 * @param counterBytes of each client's frequency-counter cache
 */
public record MapDesign(Kind kind, int shards, long backOffNanos, int lacking, long counterBytes) {

    /** What accesses leave behind. */
    public enum Kind {
        /** Nothing; there is no eviction. */
        TABLE,
        /** The object's place in an LRU list. It is not evicted from, as nothing that is compared with it misses. */
        LISTS,
        /** Metadata, of which a few are read at an eviction. */
        SAMPLED
    }

    /** What a map with metadata may do without. */
    public enum Part {
        /** Metadata with the slots (Ditto's sample-friendly table); else they are with the blocks. */
        METADATA_IN_TABLE,
        /** Slots of what was evicted are the history (Ditto's lightweight one); else it is a queue with an index. */
        HISTORY_IN_TABLE,
        /** A hundred regrets change the weights at once; else each does, and each eviction reads them. */
        LAZY_WEIGHTS,
        /** The frequency-counter cache; else each access is a fetch-and-add. */
        COUNTERS
    }

    private static final long COUNTER_BYTES = 1 << 20;

    /** A table without anything of a cache (Ditto, figure 2: KVS). */
    public static MapDesign table() {
        return new MapDesign(Kind.TABLE, 0, 0, 0, COUNTER_BYTES);
    }

    /** LRU lists, each under a lock (Ditto, figure 2: KVC and KVC-S; figure 14: Shard-LRU). */
    public static MapDesign lists(int shards, long backOffNanos) {
        return new MapDesign(Kind.LISTS, shards, backOffNanos, 0, COUNTER_BYTES);
    }

    /** All parts of Ditto's. */
    public static MapDesign whole() {
        return new MapDesign(Kind.SAMPLED, 0, 0, 0, COUNTER_BYTES);
    }

    /** The same without some parts more. */
    public MapDesign without(Part... parts) {
        int fewer = lacking;
        for (Part part : parts) {
            fewer |= 1 << part.ordinal();
        }
        return new MapDesign(kind, shards, backOffNanos, fewer, counterBytes);
    }

    /** The same with a frequency-counter cache of another size, of one entry at least. */
    public MapDesign counters(long bytes) {
        return new MapDesign(kind, shards, backOffNanos, lacking, Math.max(FrequencyCounterCache.ENTRY_BYTES, bytes));
    }

    boolean has(Part part) {
        return (lacking & 1 << part.ordinal()) == 0;
    }
}
