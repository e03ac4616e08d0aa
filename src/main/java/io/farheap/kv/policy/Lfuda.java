package io.farheap.kv.policy;

import java.util.Set;

/** LFU with dynamic aging (Arlitt, 2000; {@link Aging}). */
final class Lfuda extends Aging {

    @Override
    double worth(Metadata object) {
        return object.frequency();
    }

    @Override
    public Set<Information> needs() {
        return Set.of(Information.FREQUENCY, Information.EXTENSION);
    }
}
