package io.farheap.bench.machine;

import java.util.Arrays;

/** The cost of reading the clock, by which measured times are too long. */
public final class ClockCost {

    private static final int ROUNDS = 5;

    private ClockCost() {}

    /**
     * Returns the least median of some rounds, in ns: the first rounds are interpreted, and a compiler may run beside
     * others.
     */
    public static long nanos() {
        long least = Long.MAX_VALUE;
        long[] between = new long[10_001];
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < between.length; i++) {
                long start = System.nanoTime();
                between[i] = System.nanoTime() - start;
            }
            Arrays.sort(between);
            least = Math.min(least, between[between.length / 2]);
        }
        return least;
    }
}
