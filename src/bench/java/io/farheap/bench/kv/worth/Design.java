package io.farheap.bench.kv.worth;

import io.farheap.kv.policy.FrequencyCounterCache;

/**
 * How a map of the benchmark knows what to evict, and which parts of Ditto's it has. What says nothing to a kind is not
 * looked at.
 *
 * @param shards of the LRU list
 * @param backOffNanos after a lock was found taken; 0 tries again at once
 * @param metadataInTable with the slots (Ditto's sample-friendly table), else with the blocks
 * @param historyInTable slots of what was evicted are the history (Ditto's lightweight history), else it is a queue
 *     with an index of its own
 * @param lazyWeights a hundred regrets change the weights at once, else each does, and each eviction reads them
 * @param counterBytes of each client's frequency-counter cache
 * @param threshold of its counts; 0 sends each at once
 */
public record Design(
        Kind kind,
        int shards,
        long backOffNanos,
        boolean metadataInTable,
        boolean historyInTable,
        boolean lazyWeights,
        long counterBytes,
        int threshold) {

    /** What accesses leave behind. */
    public enum Kind {
        /** Nothing; there is no eviction. */
        TABLE,
        /** The object's place in an LRU list. It is not evicted from, as nothing that is compared with it misses. */
        LISTS,
        /** Metadata, of which a few are read at an eviction. */
        SAMPLED
    }

    private static final long COUNTER_BYTES = 1 << 20;

    /** A table without anything of a cache (Ditto, figure 2: KVS). */
    public static Design table() {
        return new Design(Kind.TABLE, 0, 0, true, true, true, COUNTER_BYTES, 0);
    }

    /** LRU lists, each under a lock (Ditto, figure 2: KVC and KVC-S; figure 14: Shard-LRU). */
    public static Design lists(int shards, long backOffNanos) {
        return new Design(Kind.LISTS, shards, backOffNanos, true, true, true, COUNTER_BYTES, 0);
    }

    /** All parts of Ditto's. */
    public static Design whole() {
        return new Design(Kind.SAMPLED, 0, 0, true, true, true, COUNTER_BYTES, FrequencyCounterCache.THRESHOLD);
    }

    /** The same with metadata beside the values. */
    public Design metadataInBlocks() {
        return new Design(kind, shards, backOffNanos, false, historyInTable, lazyWeights, counterBytes, threshold);
    }

    /** The same with a history of its own. */
    public Design historyApart() {
        return new Design(kind, shards, backOffNanos, metadataInTable, false, lazyWeights, counterBytes, threshold);
    }

    /** The same with weights that each regret changes. */
    public Design eagerWeights() {
        return new Design(kind, shards, backOffNanos, metadataInTable, historyInTable, false, counterBytes, threshold);
    }

    /** The same where each access is a fetch-and-add. */
    public Design withoutCounters() {
        return new Design(kind, shards, backOffNanos, metadataInTable, historyInTable, lazyWeights, counterBytes, 0);
    }

    /** The same with another size of the frequency-counter cache. */
    public Design counters(long bytes) {
        return new Design(
                kind,
                shards,
                backOffNanos,
                metadataInTable,
                historyInTable,
                lazyWeights,
                Math.max(FrequencyCounterCache.ENTRY_BYTES, bytes),
                threshold);
    }
}
