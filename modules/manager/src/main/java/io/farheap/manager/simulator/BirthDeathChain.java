package io.farheap.manager.simulator;

/**
 * How long a coded range lives, in closed form: a birth-death chain whose state is the number of slabs that are
 * missing. Each of the others is lost at one rate, and missing ones are made again at another, one or several at a
 * time. A range that misses more than r is lost. Times are exponential, and failures of servers independent.
 *
 * @param splits k + r
 * @param r missing slabs that a range survives
 * @param lossRate of each slab, above 0
 * @param repairRate of each slab that is being made again, at least 0, in the same unit
 * @param repairs missing slabs of one range that are made again at a time, at most
 */
record BirthDeathChain(int splits, int r, double lossRate, double repairRate, int repairs) {

    /**
     * Returns the mean time until a range that has all of its slabs is lost: the sum of the mean times in which one
     * more slab is missing for the first time.
     */
    double meanTimeToLoss() {
        double next = 0;
        double sum = 0;
        for (int missing = 0; missing <= r; missing++) {
            next = (1 + repairRate * Math.min(missing, repairs) * next) / (lossRate * (splits - missing));
            sum += next;
        }
        return sum;
    }

    /** Returns the probability that any of some independent ranges is lost within a time. */
    double probability(double ranges, double time) {
        return -Math.expm1(-ranges * time / meanTimeToLoss());
    }
}
