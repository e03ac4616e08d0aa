package io.farheap.slo;

import java.util.Locale;

/**
 * The points of a model's grid between which a prediction is interpolated.
 *
 * @param measured how many of them were measured
 * @param estimated how many were omitted by early termination, so that their figures are estimates
 * @param uncertainty the greatest {@link Performance#uncertainty} among the measurements behind these points; infinite
 *     if it is unknown
 */
public record PredictionBasis(int measured, int estimated, double uncertainty) {

    /** Whether all figures behind the prediction were measured and have settled. */
    public boolean isMeasured() {
        return estimated == 0 && uncertainty <= Performance.SETTLED;
    }

    /** For people: what the prediction rests on, and how well that is known. */
    @Override
    public String toString() {
        String points = estimated == 0
                ? "measured figures alone"
                : "estimates of " + estimated + " of " + (measured + estimated)
                        + " points, which were left out since a line of the grid had ended";
        if (uncertainty <= Performance.SETTLED) {
            return points;
        }
        return points
                + (uncertainty == Double.POSITIVE_INFINITY
                        ? "; a measurement behind it was too short to say how certain it is"
                        : String.format(
                                Locale.ROOT,
                                "; a measurement behind it has not settled: its figures are known to %.3g%%",
                                100 * uncertainty));
    }
}
