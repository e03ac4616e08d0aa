package io.farheap.cache;

import io.farheap.testing.Softverbs;

/** The faults of softverbs, which are set while this process runs. */
public final class SoftverbsFaults {

    private SoftverbsFaults() {}

    /** Every operation posted from now on is executed this much later. */
    public static void delayOperations(long nanos) {
        Softverbs.set("straggler=" + (nanos == 0 ? "0" : "1:" + nanos));
    }

    /** This part of the operations posted from now on is executed this much later. */
    public static void delayOperations(double part, long nanos) {
        Softverbs.set("straggler=" + part + ":" + nanos);
    }

    /**
     * Every queue pair fails once it has executed this number of operations, of which it counts only those that it
     * executes while such a number is set; with 0, none fails.
     */
    public static void failQueuePairsAfter(int operations) {
        Softverbs.set("qp_error_after=" + operations);
    }

    /** Sets the port of this process's device up or down. */
    public static void link(boolean up) {
        Softverbs.set("link=" + (up ? "up" : "down"));
    }
}
