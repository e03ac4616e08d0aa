package io.farheap.bench.kv.leases;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The requests of one thread. They are the same ones for the same seed, whatever is answered. Every key can be drawn:
 * each rank has a key of its own, and popular keys are spread over all. One thread.
 */
final class LeaseRequests {

    private static final int ALL_PERCENT = 100;
    private static final double GOLDEN = 0.6180339887498949;

    private final SplittableRandom random;
    private final long keys;
    private final int getPercent;
    /** By rank, the weights of this and all lower ranks; empty if keys are uniform. */
    private final double[] cumulative;

    private final long stride;
    private boolean set;

    LeaseRequests(LeaseWorkload workload, long seed) {
        random = new SplittableRandom(seed);
        keys = workload.keys();
        getPercent = workload.getPercent();
        cumulative = new double[workload.isZipfian() ? Math.toIntExact(keys) : 0];
        double sum = 0;
        for (int rank = 0; rank < cumulative.length; rank++) {
            sum += Math.pow(rank + 1.0, -workload.skew());
            cumulative[rank] = sum;
        }
        stride = stride(keys);
    }

    /** Returns a number near the golden section of the keys that has no divisor in common with their number. */
    private static long stride(long keys) {
        long stride = Math.max(1, (long) (GOLDEN * keys));
        while (divisor(stride, keys) != 1) {
            stride++;
        }
        return stride;
    }

    private static long divisor(long first, long second) {
        long one = first;
        long other = second;
        while (other != 0) {
            long rest = one % other;
            one = other;
            other = rest;
        }
        return one;
    }

    /** Draws the next request, and returns its key. */
    long next() {
        long key = cumulative.length == 0 ? random.nextLong(keys) : keyOf(rank());
        set = random.nextInt(ALL_PERCENT) >= getPercent;
        return key;
    }

    /** Whether the request that was drawn last is a set, and not a get. */
    boolean isSet() {
        return set;
    }

    private int rank() {
        double drawn = random.nextDouble() * cumulative[cumulative.length - 1];
        int found = Arrays.binarySearch(cumulative, drawn);
        // A rank has the numbers from the sum of the lower ones on, up to its own sum, which is the next one's.
        return Math.min(cumulative.length - 1, found < 0 ? -found - 1 : found + 1);
    }

    /** Returns the key of a rank; each rank has another one. */
    private long keyOf(long rank) {
        return rank * stride % keys;
    }
}
