package io.farheap.kv.policy;

import java.util.Set;

/** LFU with dynamic aging (Arlitt, 2000; {@link AgingPolicy}). */
final class Lfuda extends AgingPolicy {

    @Override
    double worth(ObjectMetadata object) {
        return object.frequency();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.FREQUENCY, AccessInformation.EXTENSION);
    }
}
