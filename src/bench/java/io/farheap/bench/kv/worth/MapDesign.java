package io.farheap.bench.kv.worth;

import io.farheap.kv.replacement.FrequencyCounterCache;

/**
 * How a map of the benchmark chooses the objects to evict, and which parts of Ditto's design it lacks.
 *
 * @param shards number of LRU lists
 * @param backOffNanos waiting time after a lock was found taken; 0 tries again at once
 * @param lacking a bit for each {@link Part}
 * @param counterBytes of each client's frequency-counter cache
 */
public record MapDesign(Kind kind, int shards, long backOffNanos, int lacking, long counterBytes) {

    /** The state that an access updates. */
    public enum Kind {
        /** Nothing; there is no eviction. */
        TABLE,
        /**
         * The object's place in an LRU list. Nothing is evicted from it, since the designs that it is compared with do
         * not miss.
         */
        LISTS,
        /** The object's metadata; an eviction reads the metadata of a few objects. */
        SAMPLED
    }

    /** The parts that a map with metadata may lack. */
    public enum Part {
        /** Metadata in the slots (Ditto's sample-friendly table); without this part, they are in the blocks. */
        METADATA_IN_TABLE,
        /**
         * Slots of evicted objects are the history (Ditto's lightweight history); without this part, it is a queue with
         * an index.
         */
        HISTORY_IN_TABLE,
        /**
         * A hundred regrets change the weights at once; without this part each regret does, and each eviction reads the
         * weights.
         */
        LAZY_WEIGHTS,
        /** The frequency-counter cache; without this part each access is a fetch-and-add. */
        COUNTERS
    }

    private static final long COUNTER_BYTES = 1 << 20;

    /** A table without any part of a cache (Ditto, figure 2: KVS). */
    public static MapDesign table() {
        return new MapDesign(Kind.TABLE, 0, 0, 0, COUNTER_BYTES);
    }

    /** LRU lists, each under a lock (Ditto, figure 2: KVC and KVC-S; figure 14: Shard-LRU). */
    public static MapDesign lists(int shards, long backOffNanos) {
        return new MapDesign(Kind.LISTS, shards, backOffNanos, 0, COUNTER_BYTES);
    }

    /** A design with all parts of Ditto's. */
    public static MapDesign whole() {
        return new MapDesign(Kind.SAMPLED, 0, 0, 0, COUNTER_BYTES);
    }

    /** The same design without some further parts. */
    public MapDesign without(Part... parts) {
        int fewer = lacking;
        for (Part part : parts) {
            fewer |= 1 << part.ordinal();
        }
        return new MapDesign(kind, shards, backOffNanos, fewer, counterBytes);
    }

    /** The same design with a frequency-counter cache of another size, of one entry at least. */
    public MapDesign counters(long bytes) {
        return new MapDesign(kind, shards, backOffNanos, lacking, Math.max(FrequencyCounterCache.ENTRY_BYTES, bytes));
    }

    boolean has(Part part) {
        return (lacking & 1 << part.ordinal()) == 0;
    }
}
