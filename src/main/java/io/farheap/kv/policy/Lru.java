package io.farheap.kv.policy;

import java.util.Set;

/** Evicts the least recently used object. Exact except for what sampling misses. */
final class Lru implements EvictionPolicy {

    @Override
    public double priority(ObjectMetadata object) {
        return object.lastAccess();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.LAST_ACCESS);
    }
}
