package io.farheap.kv.policy;

import java.util.Set;

/**
 * Least recently or frequently used (Lee, IEEE ToC '01): evicts the object with the lowest sum over all accesses of
 * {@code 0.5^(age/h)}. With h towards 0 this is LRU, with h towards infinity LFU.
 *
 * <p>All sums decay at the same rate. So the policy keeps, in half lives, the time at which a single access would have
 * given the same sum now, and needs no time of the last access. It is exact except for the rounding of a double.
 */
final class Lrfu implements EvictionPolicy {

    private final double halfLife;

    /** @param halfLife ticks after which an access counts half */
    Lrfu(long halfLife) {
        this.halfLife = halfLife;
    }

    @Override
    public double priority(ObjectMetadata object) {
        return object.extensionNumber(0);
    }

    @Override
    public void update(ObjectMetadata object) {
        double now = object.now() / halfLife;
        double sum = object.frequency() > 0 ? Math.exp((object.extensionNumber(0) - now) * LN_2) : 0;
        object.extensionNumber(0, now + Math.log1p(sum) / LN_2);
    }

    private static final double LN_2 = Math.log(2);

    @Override
    public int extensionWords() {
        return 1;
    }

    @Override
    public Set<AccessInformation> needs() {
        return Set.of(AccessInformation.FREQUENCY, AccessInformation.EXTENSION);
    }
}
