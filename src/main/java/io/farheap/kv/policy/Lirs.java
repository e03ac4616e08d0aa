package io.farheap.kv.policy;

import java.util.Set;

/**
 * Evicts the object with the longest reuse distance (LIRS, SIGMETRICS '02): the distance between its last two accesses,
 * or that since the last one if it is already longer. An object that was accessed once has no reuse distance yet and is
 * evicted before all others, the least recently used first.
 *
 * <p>The original measures distances in other objects accessed; here they are ticks. It also remembers distances of
 * evicted objects, and keeps new objects in a queue of 1% of the cache; this policy does neither.
 */
final class Lirs implements EvictionPolicy {

    /** Greater than any distance, and small enough that ticks added to it are not lost by rounding. */
    private static final double NEVER = 1L << 52;

    @Override
    public double priority(ObjectMetadata object) {
        long distance = object.extension(0);
        double recency = object.now() - object.lastAccess();
        return distance == 0 ? -NEVER - recency : -Math.max((double) distance, recency);
    }

    @Override
    public void update(ObjectMetadata object) {
        if (object.frequency() > 0) {
            object.extension(0, Math.max(1, object.now() - object.lastAccess()));
        }
    }

    @Override
    public int extensionWords() {
        return 1;
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.FREQUENCY, AccessInformation.LAST_ACCESS, AccessInformation.EXTENSION);
    }
}
