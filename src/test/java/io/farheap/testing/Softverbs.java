package io.farheap.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.verbs.soft.SoftverbsCalls;

/** Changes the settings of softverbs while this process runs; its README lists them. */
public final class Softverbs {

    private Softverbs() {}

    /** @param settings as in the environment variable SOFTVERBS */
    public static void set(String settings) {
        assertEquals(0, SoftverbsCalls.control(settings), settings);
    }

    /**
     * Sets the number of devices, {@code soft0} and on, each like a machine of its own: if servers of this process are
     * on different devices, a test can break one of them alone.
     */
    public static void devices(int count) {
        set("devices=" + count);
    }
}
