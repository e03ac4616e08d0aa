package io.farheap.bench.report;

import java.util.Arrays;

/**
 * The ratio of a side to the others of its row: of medians, to the best of the others, and none if the row is invalid.
 * Sides that do not take part have NaN.
 */
public final class MedianRatio {

    private MedianRatio() {}

    /**
     * Returns a time over the shortest one of the others: above 1 if the side is slower.
     *
     * @return NaN if the row is invalid, or if there is no such figure
     */
    public static double ofTimes(Validity validity, double median, double... others) {
        return validity.compared(
                median / Arrays.stream(others).filter(Double::isFinite).min().orElse(Double.NaN));
    }

    /**
     * Returns a rate over the highest one of the others: above 1 if the side is faster.
     *
     * @return NaN if the row is invalid, or if there is no such figure
     */
    public static double ofRates(Validity validity, double median, double... others) {
        return validity.compared(
                median / Arrays.stream(others).filter(Double::isFinite).max().orElse(Double.NaN));
    }
}
