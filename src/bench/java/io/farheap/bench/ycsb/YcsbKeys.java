package io.farheap.bench.ycsb;

import java.util.SplittableRandom;

/**
 * Keys as YCSB draws them: Zipfian of 0.99, spread over all keys by a hash so that the hot ones are no neighbours
 * ("scrambled"), or the latest inserted most often. The method is Gray's (SIGMOD '94), as in YCSB. One thread.
 */
public final class YcsbKeys {

    private static final double SKEW = 0.99;

    private final SplittableRandom random;
    private final long begun;
    private final double zeta;
    private final double alpha;
    private final double eta;
    private long keys;

    /** @param keys that are there at the beginning, 0 to one less */
    public YcsbKeys(long keys, long seed) {
        this.begun = keys;
        this.keys = keys;
        random = new SplittableRandom(seed);
        double sum = 0;
        for (long rank = 1; rank <= keys; rank++) {
            sum += 1 / Math.pow((double) rank, SKEW);
        }
        zeta = sum;
        alpha = 1 / (1 - SKEW);
        eta = (1 - Math.pow(2.0 / keys, 1 - SKEW)) / (1 - (1 + Math.pow(0.5, SKEW)) / zeta);
    }

    /** From 0 on, the lower the more often. */
    private long rank() {
        double drawn = random.nextDouble();
        double scaled = drawn * zeta;
        if (scaled < 1) {
            return 0;
        }
        if (scaled < 1 + Math.pow(0.5, SKEW)) {
            return 1;
        }
        return Math.min(begun - 1, (long) (begun * Math.pow(eta * drawn - eta + 1, alpha)));
    }

    /** A key of the first ones. */
    public long zipfian() {
        return keyOf(rank(), begun);
    }

    /** The key of a rank, of so many keys. */
    public static long keyOf(long rank, long keys) {
        long mixed = (rank + 1) * 0x9E3779B97F4A7C15L;
        return Long.remainderUnsigned(mixed ^ mixed >>> 32, keys);
    }

    /** A key that was inserted lately, as seen from now. */
    public long latest() {
        return Math.max(0, keys - 1 - rank());
    }

    /** A new key. */
    public long insert() {
        return keys++;
    }
}
