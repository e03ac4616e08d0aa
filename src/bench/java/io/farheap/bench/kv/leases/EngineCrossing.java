package io.farheap.bench.kv.leases;

/** Where one engine ceases to be the faster one, between points at which both were measured. */
final class EngineCrossing {

    private EngineCrossing() {}

    /**
     * Returns the first place at which a ratio of rates is 1. Between neighbours the logarithm of the ratio is taken as
     * linear.
     *
     * @param places in rising or falling order
     * @param ratios at these places; one that is not a number is left out
     * @return not a number if the ratio is above 1 at all places, or below 1 at all
     */
    static double of(double[] places, double[] ratios) {
        int before = -1;
        for (int i = 0; i < places.length; i++) {
            double height = Math.log(ratios[i]);
            if (!Double.isFinite(height)) {
                continue;
            }
            if (height == 0) {
                return places[i];
            }
            if (before >= 0) {
                double last = Math.log(ratios[before]);
                if ((last < 0) != (height < 0)) {
                    return places[before] + (places[i] - places[before]) * last / (last - height);
                }
            }
            before = i;
        }
        return Double.NaN;
    }
}
