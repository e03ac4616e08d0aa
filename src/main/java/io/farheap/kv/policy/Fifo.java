package io.farheap.kv.policy;

import java.util.Set;

/** Evicts the object that was inserted first. */
final class Fifo implements EvictionPolicy {

    @Override
    public double priority(ObjectMetadata object) {
        return object.insertTime();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.INSERT_TIME);
    }
}
