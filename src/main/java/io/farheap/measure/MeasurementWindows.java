package io.farheap.measure;

import io.farheap.slo.Performance;
import java.util.Arrays;

/**
 * The figures of successive windows of one measurement. Their medians are its result: a window in which the machine did
 * something else moves them little. They are settled when each median is known to {@value #TOLERANCE} of itself: when
 * so near are, with a confidence of 95%, the ends of its interval by order statistics, which assumes nothing of how
 * figures are distributed. One thread at a time.
 */
final class MeasurementWindows {

    static final int LEAST = 10;
    static final double TOLERANCE = 0.02;

    private static final double NORMAL_95 = 1.96;
    private static final int FIGURES = 3;

    private final double readShare;
    private final double[][] figures = new double[FIGURES][16];
    private int count;

    /** @param readPercent of the operations */
    MeasurementWindows(int readPercent) {
        readShare = readPercent / 100.0;
    }

    /** @param readNanos average latency, 0 where there are no reads; as {@code writeNanos} */
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

    /**
     * By which share of itself the least certain median may be wrong; infinite where there are too few windows to tell.
     */
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

    /** @throws IllegalStateException where there is no window */
    Performance medians() {
        if (count == 0) {
            throw new IllegalStateException("no request completed while the cache was measured");
        }
        double perSecond = median(sorted(2));
        return new Performance(
                median(sorted(0)), perSecond * readShare, median(sorted(1)), perSecond * (1 - readShare));
    }
}
