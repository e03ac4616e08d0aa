package io.farheap.kv.policy;

import java.util.Set;

/**
 * Evicts the least frequently used object. The count is dropped at eviction (in-cache LFU). Accesses that a client has
 * counted and not yet sent are missing in the counts that other clients see.
 */
final class Lfu implements EvictionPolicy {

    @Override
    public double priority(ObjectMetadata object) {
        return object.frequency();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.FREQUENCY);
    }
}
