package io.farheap.kv.policy;

import java.util.Set;

/** The largest goes, in units of 64 bytes: smaller differences are not seen. */
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
