package io.farheap.bench.ablation;

/** Spins for a while and then lets others run: there may be fewer cores than threads. One thread. */
final class SpinYieldBackoff {

    private static final int SPINS = 2_000;

    private int spins;

    /** There was something to do. */
    void renew() {
        spins = 0;
    }

    /** There was nothing. */
    void lose() {
        if (++spins < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }
}
