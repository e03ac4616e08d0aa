package io.farheap.cache;

import io.farheap.testing.Softverbs;

/** softverbs' faults, switched while this process runs. */
public final class SoftverbsFaults {

    private SoftverbsFaults() {}

    /** Every operation posted from now on is executed this much later. */
    public static void delayOperations(long nanos) {
        Softverbs.set("straggler=" + (nanos == 0 ? "0" : "1:" + nanos));
    }

    /** That part of the operations posted from now on is executed this much later. */
    public static void delayOperations(double part, long nanos) {
        Softverbs.set("straggler=" + part + ":" + nanos);
    }

    /** Every queue pair fails once it has executed that many operations from now on; 0 for none. */
    public static void failQueuePairsAfter(int operations) {
        Softverbs.set("qp_error_after=" + operations);
    }

    /** The port of this process's device. */
    public static void link(boolean up) {
        Softverbs.set("link=" + (up ? "up" : "down"));
    }
}
