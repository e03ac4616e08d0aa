package io.farheap.kv.policy;

import java.util.Set;

/**
 * The least frequently used goes. An object is forgotten when it goes (in-cache LFU). What a client has not yet sent of
 * its counts is missing in what others see.
 */
final class Lfu implements EvictionPolicy {

    @Override
    public double priority(ObjectMetadata object) {
        return object.frequency();
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.FREQUENCY);
    }
}
