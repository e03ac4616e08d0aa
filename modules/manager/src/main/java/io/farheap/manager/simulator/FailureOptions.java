package io.farheap.manager.simulator;

/**
 * Failures over time, and how lost slabs are made again. Times are exponential, but for a server's return.
 *
 * @param rackServers servers of each rack, which fails at once
 * @param rackDomains whether a rack is a failure domain; if not, each server is one
 * @param lifeDays mean time until a server fails alone
 * @param rackLifeDays mean time until a rack fails; infinite if racks do not fail
 * @param repairSeconds mean time in which a lost slab is made again
 * @param repairs slabs, of different ranges of a cache, that are made again at a time
 * @param cacheRanges ranges of a cache
 * @param returnMinutes after which a failed server is back, empty
 * @param years that are simulated
 */
record FailureOptions(
        int rackServers,
        boolean rackDomains,
        double lifeDays,
        double rackLifeDays,
        double repairSeconds,
        int repairs,
        int cacheRanges,
        double returnMinutes,
        double years) {

    /** @throws IllegalArgumentException if a value is out of its range */
    FailureOptions {
        requirePositive("servers in a rack", rackServers);
        requirePositive("days of a server's life", lifeDays);
        if (!(rackLifeDays > 0)) {
            throw new IllegalArgumentException(rackLifeDays + " days of a rack's life; that is more than 0");
        }
        requirePositive("seconds for a slab", repairSeconds);
        requirePositive("repairs at a time", repairs);
        requirePositive("ranges of a cache", cacheRanges);
        requirePositive("minutes until a server is back", returnMinutes);
        requirePositive("years", years);
    }

    private static void requirePositive(String what, double value) {
        if (!(value > 0) || value == Double.POSITIVE_INFINITY) {
            throw new IllegalArgumentException(value + " " + what + "; that is more than 0, and finite");
        }
    }

    FailureOptions withRackDomains(boolean domains) {
        return new FailureOptions(
                rackServers,
                domains,
                lifeDays,
                rackLifeDays,
                repairSeconds,
                repairs,
                cacheRanges,
                returnMinutes,
                years);
    }
}
