package io.farheap.kv.policy;

import java.util.Set;

/**
 * Least recently or frequently used (Lee, IEEE ToC '01): the lowest sum over all accesses of {@code 0.5^(age/h)} goes.
 * With h towards 0 this is LRU, with h towards infinity LFU.
 *
 * <p>As all sums shrink alike, what is kept is when a single access would have had the same sum, in half lives; so it
 * needs no time of the last access. It is exact but for the rounding of a double.
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
