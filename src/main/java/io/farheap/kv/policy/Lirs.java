package io.farheap.kv.policy;

import java.util.Set;

/**
 * The longest reuse distance goes (LIRS, SIGMETRICS '02): that between the last two accesses, or that since the last
 * where it is longer already. An object that was accessed once has no reuse distance yet and goes before all others,
 * the least recently used first.
 *
 * <p>The original counts distances in other objects accessed; here they are ticks. It remembers distances of objects
 * that are out of the cache, and holds new ones in a queue of 1% of it; this one does neither.
 */
final class Lirs implements EvictionPolicy {

    /** Above any distance, and still so small that ticks added to it count. */
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
