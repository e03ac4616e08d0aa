package io.farheap.measure;

import io.farheap.slo.Performance;
import java.util.Arrays;

/**
 * The figures of successive windows of one measurement. The medians are its result, since a window in which the machine
 * did other work moves them little. They are settled when there are at least {@value #LEAST} windows and each median is
 * known to {@value #TOLERANCE} of itself: half the width of its 95% confidence interval is at most that. The interval
 * comes from order statistics, which assume nothing about the distribution of the figures. One thread at a time.
 */
final class MeasurementWindows {

    static final int LEAST = 10;
    static final double TOLERANCE = Performance.SETTLED;

    private static final double NORMAL_95 = 1.96;
    private static final int FIGURES = 3;

    private final double readShare;
    private final double[][] figures = new double[FIGURES][16];
    private int count;

    /** @param readPercent share of reads among the operations */
    MeasurementWindows(int readPercent) {
        readShare = readPercent / 100.0;
    }

    /** @param readNanos average latency, 0 if there are no reads; {@code writeNanos} likewise */
    void add(double readNanos, double writeNanos, double perSecond) {
        double[] window = {readNanos, writeNanos, perSecond};
        for (int figure = 0; figure < FIGURES; figure++) {
            if (count == figures[figure].length) {
                figures[figure] = Arrays.copyOf(figures[figure], 2 * count);
            }
            figures[figure][count] = window[figure];
        }
        count++;
    }

    int count() {
        return count;
    }

    boolean settled() {
        return count >= LEAST && uncertainty() <= TOLERANCE;
    }

    /** The relative uncertainty of the least certain median; infinite if there are too few windows. */
    double uncertainty() {
        double worst = 0;
        for (int figure = 0; figure < FIGURES; figure++) {
            worst = Math.max(worst, uncertainty(sorted(figure)));
        }
        return worst;
    }

    private double uncertainty(double[] sorted) {
        int low = (int) Math.floor(count / 2.0 - NORMAL_95 / 2 * Math.sqrt(count)) - 1;
        if (low < 0) {
            return Double.POSITIVE_INFINITY;
        }
        double median = median(sorted);
        return median == 0 ? 0 : (sorted[count - 1 - low] - sorted[low]) / 2 / median;
    }

    private double[] sorted(int figure) {
        double[] sorted = Arrays.copyOf(figures[figure], count);
        Arrays.sort(sorted);
        return sorted;
    }

    private static double median(double[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    /**
     * Returns the medians, and how uncertain they are.
     *
     * @throws IllegalStateException if there is no window
     */
    Performance medians() {
        if (count == 0) {
            throw new IllegalStateException("no request completed while the cache was measured");
        }
        double perSecond = median(sorted(2));
        return new Performance(
                median(sorted(0)),
                perSecond * readShare,
                median(sorted(1)),
                perSecond * (1 - readShare),
                uncertainty());
    }
}
