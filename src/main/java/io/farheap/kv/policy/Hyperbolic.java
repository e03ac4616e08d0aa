package io.farheap.kv.policy;

import java.util.Set;

/**
 * Evicts the object with the fewest accesses per tick in the cache and per unit of size (Blankstein, ATC '17); the
 * paper's cache samples, too.
 */
final class Hyperbolic implements EvictionPolicy {

    @Override
    public double priority(ObjectMetadata object) {
        double ticks = Math.max(1, object.now() - object.insertTime());
        return object.frequency() / (ticks * object.size());
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.FREQUENCY, AccessInformation.INSERT_TIME, AccessInformation.SIZE);
    }
}
