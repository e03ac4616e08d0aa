package io.farheap.kv.policy;

import java.util.Set;

/** The first that came goes. */
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
