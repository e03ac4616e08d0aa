package io.farheap.manager.simulator;

/**
 * The caches in the simulated data center, and the rules by which they move, which are the simulation's own.
 *
 * @param caches the average number at a time; 0 for none
 * @param spot whether they get spot machines
 * @param releaseMoves whether they leave a server as soon as its memory can be let again, ahead of the notice
 * @param searches whether all of a cache is placed again, every ten minutes, if that costs less
 */
record SimulatedCacheOptions(double caches, boolean spot, boolean releaseMoves, boolean searches) {

    SimulatedCacheOptions {
        if (!(caches >= 0) || caches == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException(caches + " caches on average; that is 0 or more");
        }
    }
}
