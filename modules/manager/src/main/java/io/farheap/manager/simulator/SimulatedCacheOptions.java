package io.farheap.manager.simulator;

/**
 * The caches in the simulated data center, and what their manager does for them.
 *
 * @param caches the average number at a time; 0 for none
 * @param spot whether they get spot machines
 * @param earlyMoves whether they leave a server as soon as its memory can be let again, ahead of the notice
 * @param cheaper whether they move when a cheaper placement has appeared
 */
record SimulatedCacheOptions(double caches, boolean spot, boolean earlyMoves, boolean cheaper) {

    SimulatedCacheOptions {
        if (!(caches >= 0) || caches == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException(caches + " caches on average; that is 0 or more");
        }
    }
}
