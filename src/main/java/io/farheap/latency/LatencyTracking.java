package io.farheap.latency;

/** Which requests a session times. A clock read costs 20 to 30 ns, as much as a short request. */
public enum LatencyTracking {

    /** None. */
    NONE,

    /**
     * Every request while requests take microseconds. If they take less, a random one of about 64 is timed and counted
     * 64 times. Percentiles are unbiased; totals are estimates, and a rare outlier is likely to be missed.
     */
    SAMPLED,

    /**
     * A random one of about 64, counted 64 times, however long it takes: averages and counts over many requests, for
     * next to no time.
     */
    SPARSE,

    /** Every request, so that totals are exact and no outlier is missed. */
    EVERY
}
