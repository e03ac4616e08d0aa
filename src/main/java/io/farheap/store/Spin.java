package io.farheap.store;

/** How a thread waits for what another does in some instructions, unless it has lost its core. */
final class Spin {

    private static final int SPINS = 100;

    private Spin() {}

    /** @param rounds how often it has waited. @return one more */
    static int wait(int rounds) {
        if (rounds < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
        return rounds + 1;
    }
}
