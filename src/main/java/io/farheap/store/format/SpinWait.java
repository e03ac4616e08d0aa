package io.farheap.store.format;

import io.farheap.thread.Uninterruptibles;

/** How a thread waits for what another does in some instructions, unless it has lost its core. */
public final class SpinWait {

    private static final int SPINS = 100;
    private static final int YIELDS = 200;
    private static final long NAP_NANOS = 20_000;

    private SpinWait() {}

    /** @param rounds how often it has waited. @return one more */
    public static int wait(int rounds) {
        if (rounds < SPINS) {
            Thread.onSpinWait();
        } else if (rounds < YIELDS) {
            Thread.yield();
        } else {
            // Virtual threads that do nothing but yield can keep one that was blocked from ever being run.
            Uninterruptibles.parkNanos(SpinWait.class, NAP_NANOS);
        }
        return rounds + 1;
    }
}
