package io.farheap.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.verbs.soft.SoftverbsCalls;

/** The settings of softverbs, changed while this process runs; its README says what there is. */
public final class Softverbs {

    private Softverbs() {}

    /** @param settings as in the environment variable SOFTVERBS */
    public static void set(String settings) {
        assertEquals(0, SoftverbsCalls.control(settings), settings);
    }

    /**
     * So many devices, {@code soft0} and on, each as a machine of its own: of servers in this process that are on
     * different ones one can be broken alone.
     */
    public static void devices(int count) {
        set("devices=" + count);
    }
}
