package io.farheap.kv.policy;

import java.util.Set;

/** Evicts the largest object, in units of 64 bytes: smaller differences do not count. */
final class Size implements EvictionPolicy {

    @Override
    public double priority(ObjectMetadata object) {
        return -object.size();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.SIZE);
    }
}
