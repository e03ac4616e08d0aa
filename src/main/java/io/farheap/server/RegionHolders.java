package io.farheap.server;

/**
 * Which lease holds each region. Server threads ask while they serve a batch; an entry is cleared before those threads are
 * {@linkplain ServerThreads#barrier waited for} and the region goes to another.
 */
final class RegionHolders {

    private static final long NOBODY = 0;

    private final long[] leases;

    RegionHolders(int regions) {
        leases = new long[regions];
    }

    void hold(int region, long lease) {
        leases[region] = lease;
    }

    void clear(int region) {
        leases[region] = NOBODY;
    }

    /** @param region any number */
    boolean holds(long lease, int region) {
        return Integer.compareUnsigned(region, leases.length) < 0 && leases[region] == lease && lease != NOBODY;
    }

}
