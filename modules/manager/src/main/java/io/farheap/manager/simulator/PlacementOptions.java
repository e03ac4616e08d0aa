package io.farheap.manager.simulator;

/**
 * A cluster in which the placement of coded ranges is simulated.
 *
 * @param servers of the cluster, N
 * @param slabs of each server on average, S
 * @param k data splits
 * @param r parity splits, and slabs of a range that may be lost
 * @param failedPercent of all servers, which fail at once
 * @param trials simulated failures, each of a new placement
 * @param seed the same one gives the same figures
 */
record PlacementOptions(int servers, int slabs, int k, int r, double failedPercent, int trials, long seed) {

    /** The largest cluster that a minute and 4 GiB suffice for. */
    static final int MOST_SERVERS = 1_000_000;

    private static final int MOST_SPLITS = 64;
    private static final long MOST_SLABS = 100_000_000;

    /** @throws IllegalArgumentException if a value is out of its range */
    PlacementOptions {
        if (k < 1 || r < 1 || k + r > MOST_SPLITS) {
            throw new IllegalArgumentException(
                    "a code of " + k + "+" + r + "; k and r are 1 or more, and k + r is at most " + MOST_SPLITS);
        }
        if (servers < 2 * (k + r) || servers > MOST_SERVERS) {
            throw new IllegalArgumentException("a cluster of " + servers + " servers; take " + 2 * (k + r) + " to "
                    + MOST_SERVERS + " for k + r = " + (k + r));
        }
        if (slabs < 1 || (long) slabs * servers > MOST_SLABS) {
            throw new IllegalArgumentException(slabs + " slabs on each of " + servers
                    + " servers; take 1 or more, and at most " + MOST_SLABS + " on all servers");
        }
        if (!(failedPercent >= 0 && failedPercent <= 100)) {
            throw new IllegalArgumentException(failedPercent + "% of servers fail; take 0 to 100");
        }
        if (trials < 1) {
            throw new IllegalArgumentException(trials + " trials; take 1 or more");
        }
    }

    int splits() {
        return k + r;
    }

    /** Returns the number of servers that fail at once. */
    int failed() {
        return (int) Math.round(servers * failedPercent / 100);
    }

    /** Returns the number of ranges, of k + r slabs each. */
    int ranges() {
        return (int) ((long) servers * slabs / splits());
    }
}
