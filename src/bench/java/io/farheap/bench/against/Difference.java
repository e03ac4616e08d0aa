package io.farheap.bench.against;

import java.util.Locale;

/**
 * One figure of one row of both builds, over all runs.
 *
 * @param ours this build's median
 * @param theirs the other build's median
 * @param ratio this build's value over the other's, the median over each three runs in succession; NaN if there is none
 * @param low the 25th percentile of the ratios
 * @param high their 75th percentile
 * @param same the factor between the two runs of one build among such three, its 90th percentile: a smaller difference
 *     may be noise
 */
record Difference(
        String row, Figure figure, double ours, double theirs, double ratio, double low, double high, double same) {

    /** A smaller ratio is not worth reporting, however quiet the machine is. */
    static final double NOTABLE = 1.03;

    enum Verdict {
        SLOWER,
        FASTER,
        SAME
    }

    Verdict verdict() {
        double slowness = figure.lessIsBetter() ? ratio : 1 / ratio;
        double beyond = Math.max(NOTABLE, same);
        if (slowness > beyond) {
            return Verdict.SLOWER;
        }
        return 1 / slowness > beyond ? Verdict.FASTER : Verdict.SAME;
    }

    /** Returns a text such as {@code java_p50_ns 1.08 slower}. */
    String sentence() {
        return String.format(
                Locale.ROOT,
                "%s %.2f x %s",
                figure.label(),
                Math.max(ratio, 1 / ratio),
                verdict().name().toLowerCase(Locale.ROOT));
    }
}
