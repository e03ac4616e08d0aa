package io.farheap.manager.simulator;

/**
 * A simulated spot market, the caches in it, and the options of their manager.
 *
 * @param lives how long its machines really live
 * @param meanHours how long they live on average, in hours
 * @param caches the average number at a time
 * @param days that are simulated
 * @param seed the same one gives the same figures
 * @param earlyMoves as the manager's option
 * @param cheaperMoves as the manager's option
 */
record SpotMarketOptions(
        SpotLifeForm lives,
        double meanHours,
        double caches,
        double days,
        long seed,
        boolean earlyMoves,
        int cheaperMoves) {

    SpotMarketOptions {
        requirePositive("hours of an average life", meanHours);
        requirePositive("caches on average", caches);
        requirePositive("days", days);
    }

    private static void requirePositive(String what, double value) {
        if (!(value > 0) || value == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException(value + " " + what + "; that is more than 0, and finite");
        }
    }
}
