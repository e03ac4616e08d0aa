package io.farheap.kv;

import io.farheap.kv.policy.EvictionPolicy;
import io.farheap.kv.policy.Policies;
import java.util.List;

/**
 * Which experts decide what is evicted, and how accesses reach the table.
 *
 * @param names of the experts, as {@link Policies#named} knows them; of one alone it is that policy
 * @param frequencyBytes memory of a session's frequency-counter cache
 * @param frequencyThreshold accesses that are added up before one fetch-and-add
 */
record CachePolicy(List<String> names, long frequencyBytes, int frequencyThreshold) {

    /** The paper's: LRU and LFU, 10 MB a client, a threshold of 10 (Ditto, sections 4.2.2 and 5.1). */
    static final CachePolicy PAPER = new CachePolicy(List.of("lru", "lfu"), 10_000_000, 10);

    CachePolicy {
        names = List.copyOf(names);
    }

    /** New ones, for one session. */
    List<EvictionPolicy> experts() {
        return names.stream().map(Policies::named).toList();
    }
}
