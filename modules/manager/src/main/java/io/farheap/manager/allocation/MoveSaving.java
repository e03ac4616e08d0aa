package io.farheap.manager.allocation;

/** Decides whether an optional move, one that only saves cost, is worth it (Redy, section 6.1). */
public final class MoveSaving {

    /** Hours that are counted for a cache without an end. */
    private static final double FAR_HOURS = 24;
    /** A move must save this many times what it costs, */
    private static final double WORTH = 2;
    /** and make the cache cheaper by at least this part. */
    private static final double CHEAPER = 0.1;

    private MoveSaving() {}

    /**
     * @param before cost for an hour; infinite if the cache cannot stay as it is
     * @param after cost for an hour after the move
     * @param hours that the cache lives
     * @param move what the move costs
     */
    public static boolean pays(double before, double after, double hours, double move) {
        if (before == Double.POSITIVE_INFINITY) {
            return after < before;
        }
        double saved = before - after;
        return saved > CHEAPER * before && saved * Math.min(FAR_HOURS, hours) > WORTH * move;
    }
}
