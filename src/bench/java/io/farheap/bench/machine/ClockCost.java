package io.farheap.bench.machine;

import java.util.Arrays;

/** What reading the clock costs: measured times are longer by it. */
public final class ClockCost {

    private static final int ROUNDS = 5;

    private ClockCost() {}

    /** The least median of some rounds: the first are interpreted, and others may run beside a compiler. In ns. */
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
