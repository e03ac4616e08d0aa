package io.farheap.bench.report;

/**
 * The median of a figure over its turns, and the quartiles around it. All are NaN if there is no such figure.
 *
 * @param low the lower quartile
 * @param high the upper quartile
 */
public record Quartiles(double low, double median, double high) {

    /** The quartiles of a side that does not take part. */
    public static final Quartiles NONE = new Quartiles(Double.NaN, Double.NaN, Double.NaN);

    /** Whether there is such a figure. */
    public boolean known() {
        return !Double.isNaN(median);
    }
}
