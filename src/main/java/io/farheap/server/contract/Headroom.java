package io.farheap.server.contract;

import java.util.function.Supplier;

/**
 * The share of the machine's memory that a memory server keeps free: while less is free, it gives memory of its regions
 * back to the machine, and takes it again when more is free.
 *
 * @param percent of the machine's memory to be kept free, 1 to {@value #MOST_PERCENT}; 0 for none
 * @param periodNanos interval between two looks, at least {@value #LEAST_PERIOD_MILLIS} ms
 * @param extra of how many more regions the use is compared than are asked for (E' of Hydra)
 * @param machine returns how much is free; called by a thread of the server
 */
public record Headroom(int percent, long periodNanos, int extra, Supplier<MachineMemory> machine) {

    static final int MOST_PERCENT = 90;
    static final long LEAST_PERIOD_MILLIS = 10;
    private static final long USUAL_PERIOD_NANOS = 1_000_000_000L;
    private static final int USUAL_EXTRA = 2;

    /** No headroom: the server keeps all its memory. */
    public static final Headroom NONE = new Headroom(0, USUAL_PERIOD_NANOS, USUAL_EXTRA, MachineMemory::now);

    /** @throws IllegalArgumentException with the value that is wrong, its limit and what to do */
    public Headroom {
        if (percent < 0 || percent > MOST_PERCENT) {
            throw new IllegalArgumentException("a headroom of " + percent + "% of the machine's memory; it is 1% to "
                    + MOST_PERCENT + "%, or 0 for none");
        }
        if (periodNanos < LEAST_PERIOD_MILLIS * 1_000_000) {
            throw new IllegalArgumentException(
                    "a control period of " + periodNanos + " ns; it has at least " + LEAST_PERIOD_MILLIS + " ms");
        }
        if (extra < 0) {
            throw new IllegalArgumentException(extra + " more regions to compare; there are 0 or more");
        }
    }

    /** Keeps that percentage of this machine's memory free; looks each second. */
    public static Headroom of(int percent) {
        return new Headroom(percent, USUAL_PERIOD_NANOS, USUAL_EXTRA, MachineMemory::now);
    }

    /** Whether any memory is to be kept free. */
    public boolean isKept() {
        return percent > 0;
    }
}
