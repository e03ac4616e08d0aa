package io.farheap.testing;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits in tests for what another thread does. */
public final class Wait {

    private static final long PAUSE_NANOS = 1_000_000;

    private Wait() {}

    /**
     * Returns when a condition is met, which is looked at each millisecond.
     *
     * @param nanos how long it takes at most on a processor at full speed
     * @throws AssertionError if it takes longer
     */
    public static void until(BooleanSupplier condition, long nanos, String otherwise) {
        until(condition, PAUSE_NANOS, nanos, otherwise);
    }

    /** Returns as {@link #until}, with another pause between two looks at the condition. */
    public static void until(BooleanSupplier condition, long pauseNanos, long nanos, String otherwise) {
        long deadline = System.nanoTime() + TestDevice.patience(nanos);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline >= 0) {
                throw new AssertionError(otherwise);
            }
            LockSupport.parkNanos(pauseNanos);
        }
    }
}
