package io.farheap.store.format;

import io.farheap.thread.Uninterruptibles;

/**
 * Waits for a thread that will be done after a few instructions, unless it has lost its core: spins first, then yields,
 * then parks.
 */
public final class SpinWait {

    private static final int SPINS = 100;
    private static final int YIELDS = 200;
    private static final long NAP_NANOS = 20_000;

    private SpinWait() {}

    /**
     * Waits a little longer than the time before.
     *
     * @param rounds how often the caller has waited for this already
     * @return one more
     */
    public static int wait(int rounds) {
        if (rounds < SPINS) {
            Thread.onSpinWait();
        } else if (rounds < YIELDS) {
            Thread.yield();
        } else {
            // Virtual threads that only yield could keep a thread that was blocked from ever running.
            Uninterruptibles.parkNanos(SpinWait.class, NAP_NANOS);
        }
        return rounds + 1;
    }
}
