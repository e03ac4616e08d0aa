package io.farheap.bench.against;

import java.util.Locale;

/**
 * One figure of one row of both builds, over all runs.
 *
 * @param ours this build's median
 * @param theirs the other's median
 * @param ratio this build's over the other's, the median over each three runs in succession; NaN where there is none
 * @param low 25% of the ratios
 * @param high 75% of them
 * @param same the factor between the two runs of one build in such three, 90% over them: what is within it may be noise
 */
record Difference(
        String row, Figure figure, double ours, double theirs, double ratio, double low, double high, double same) {

    /** What is within it nobody needs to look at, however quiet the machine is. */
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

    /** As {@code java_p50_ns 1.08 slower}. */
    String sentence() {
        return String.format(
                Locale.ROOT,
                "%s %.2f x %s",
                figure.label(),
                Math.max(ratio, 1 / ratio),
                verdict().name().toLowerCase(Locale.ROOT));
    }
}
