package io.farheap.kv.policy;

import java.util.Set;

/** GreedyDual-Size with frequency (Cherkasova, 1998), aged ({@link AgingPolicy}). */
final class Gdsf extends AgingPolicy {

    @Override
    double worth(ObjectMetadata object) {
        return object.frequency() * object.cost() / object.size();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(
                AccessInformation.FREQUENCY,
                AccessInformation.SIZE,
                AccessInformation.COST,
                AccessInformation.EXTENSION);
    }
}
