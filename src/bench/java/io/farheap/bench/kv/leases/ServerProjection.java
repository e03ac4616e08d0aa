package io.farheap.bench.kv.leases;

/**
 * What a leased map's requests take of its servers, from which the rate of servers with other numbers of cores is
 * computed. How long clients wait has no part in it.
 *
 * @param busyNanos of the servers' processors for each request, without what idle servers take in the same time
 */
record ServerProjection(double busyNanos) {

    private static final double SECOND = 1e9;

    /**
     * Computes it from what was measured.
     *
     * @param cpuNanos of the servers' processors for each request
     * @param idleNanos of the same servers' processors for each second without requests
     * @param rate of all clients together, in requests a second
     */
    static ServerProjection of(double cpuNanos, double idleNanos, double rate) {
        return new ServerProjection(Math.max(0, cpuNanos - idleNanos / rate));
    }

    /** Returns how many requests a second one core of the servers carries out; not a number if they take none of it. */
    double coreRate() {
        return busyNanos > 0 ? SECOND / busyNanos : Double.NaN;
    }

    /**
     * Returns how many cores of the servers a leased map needs for each client, so that it is as fast as a map of the
     * other engine whose rate no server limits.
     *
     * @param leased the rate of one client of the leased map, in requests a second
     * @param other the rate of one client of the other map
     * @return not a number if no number of cores is enough, since the client itself is slower
     */
    double coresForClient(double leased, double other) {
        return busyNanos > 0 && leased >= other ? other / coreRate() : Double.NaN;
    }
}
