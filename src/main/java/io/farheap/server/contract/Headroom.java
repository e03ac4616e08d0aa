package io.farheap.server.contract;

import java.util.function.Supplier;

/**
 * What a memory server leaves to its machine: while less is free, it gives memory of its regions back, and takes it
 * again when there is more.
 *
 * @param percent of the machine's memory to be kept free, 1 to {@value #MOST_PERCENT}; 0 for none, as long as it runs
 * @param periodNanos how often it looks, at least {@value #LEAST_PERIOD_MILLIS} ms
 * @param extra of how many more regions the use is compared than are asked for, where so many are asked for (E')
 * @param machine says what is free; called by a thread of the server's
 */
public record Headroom(int percent, long periodNanos, int extra, Supplier<MachineMemory> machine) {

    static final int MOST_PERCENT = 90;
    static final long LEAST_PERIOD_MILLIS = 10;
    private static final long USUAL_PERIOD_NANOS = 1_000_000_000L;
    private static final int USUAL_EXTRA = 2;

    /** The server keeps what it has. */
    public static final Headroom NONE = new Headroom(0, USUAL_PERIOD_NANOS, USUAL_EXTRA, MachineMemory::now);

    /** @throws IllegalArgumentException naming the value that is wrong, its limit and what to do */
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

    /** That much of this machine's memory, looked at each second. */
    public static Headroom of(int percent) {
        return new Headroom(percent, USUAL_PERIOD_NANOS, USUAL_EXTRA, MachineMemory::now);
    }

    /** Whether there is any to be kept. */
    public boolean isKept() {
        return percent > 0;
    }
}
