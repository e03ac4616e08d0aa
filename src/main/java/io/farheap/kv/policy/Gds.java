package io.farheap.kv.policy;

import java.util.Set;

/**
 * GreedyDual-Size (Cao and Irani, USITS '97): evicts the object with the lowest cost per unit of size, aged
 * ({@link AgingPolicy}).
 */
final class Gds extends AgingPolicy {

    @Override
    double worth(ObjectMetadata object) {
        return object.cost() / object.size();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.SIZE, AccessInformation.COST, AccessInformation.EXTENSION);
    }
}
