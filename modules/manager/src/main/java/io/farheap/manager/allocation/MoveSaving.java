package io.farheap.manager.allocation;

/** Whether a move that nobody has to make is worth it (Redy, section 6.1). */
public final class MoveSaving {

    /** Of a cache that is for ever, so much of its time counts. */
    private static final double FAR_HOURS = 24;
    /** A move must save so many times what it costs, */
    private static final double WORTH = 2;
    /** and make the cache cheaper by at least this part. */
    private static final double CHEAPER = 0.1;

    private MoveSaving() {}

    /**
     * @param before cost for an hour; infinite where it cannot stay as it is
     * @param after the same when it has moved
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
