package io.farheap.bench.ycsb;

import java.util.SplittableRandom;

/**
 * Draws keys as YCSB does: Zipfian of 0.99, spread over all keys by a hash so that hot keys are not neighbours
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

    /** @param keys that exist at the beginning, from 0 */
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

    /** Draws a rank, from 0; lower ranks are more frequent. */
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

    /** Draws one of the initial keys. */
    public long zipfian() {
        return keyOf(rank(), begun);
    }

    /** Returns the key of a rank, of keys from 0 to {@code keys} - 1; several ranks may have the same key. */
    public static long keyOf(long rank, long keys) {
        long mixed = (rank + 1) * 0x9E3779B97F4A7C15L;
        return Long.remainderUnsigned(mixed ^ mixed >>> 32, keys);
    }

    /** Draws a key; keys that were inserted recently are more frequent. */
    public long latest() {
        return Math.max(0, keys - 1 - rank());
    }

    /** Returns a new key. */
    public long insert() {
        return keys++;
    }
}
