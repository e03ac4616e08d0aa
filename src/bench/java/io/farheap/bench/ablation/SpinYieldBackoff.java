package io.farheap.bench.ablation;

/** Spins for a while and then yields the processor: there may be fewer cores than threads. One thread. */
final class SpinYieldBackoff {

    private static final int SPINS = 2_000;

    private int spins;

    /** Called after a round with work. */
    void renew() {
        spins = 0;
    }

    /** Called after a round without work: spins or yields. */
    void lose() {
        if (++spins < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }
}
