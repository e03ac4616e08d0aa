package io.farheap.kv.policy;

import java.util.Set;

/** Evicts the most recently used object: for loops that are longer than the cache. */
final class Mru implements EvictionPolicy {

    @Override
    public double priority(ObjectMetadata object) {
        return -object.lastAccess();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.LAST_ACCESS);
    }
}
