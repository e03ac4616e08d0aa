package io.farheap.bench.store;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;

/**
 * The turns of two sides, of which the other one is the baseline: rates of both, or times of both. The sides alternate
 * in their order if they do the same kind of work. The ratio is that of the medians. No RDMA device takes part, so no
 * row is invalid.
 */
final class StoreTurns {

    private static final int SIDE = 0;
    private static final int OTHER = 1;
    private static final int SIDES = 2;
    /** Of turns that do not count. */
    static final int MOST_WARM_UPS = 5;

    /** Runs one side. */
    @FunctionalInterface
    interface Run<E extends Exception> {

        /** Returns the rate, or the time. */
        double run() throws E;
    }

    private final Samples side = new Samples();
    private final Samples other = new Samples();
    private final Samples ratios = new Samples();
    private boolean settled;

    /**
     * Lets both sides take their turns.
     *
     * @param rotates whether another side is the first in each turn; if not, the other side is always the first
     * @param turns that count, after {@value TurnWarmUp#AGREEING} to {@value #MOST_WARM_UPS} that do not
     * @param warm runs between these
     */
    static <E extends Exception> StoreTurns take(boolean rotates, int turns, Run<E> side, Run<E> other, Runnable warm)
            throws E {
        StoreTurns taken = new StoreTurns();
        Rotation rotation = new Rotation(SIDES);
        TurnWarmUp warmUp = TurnWarmUp.untimed(SIDES);
        for (int turn = -1; turn >= -MOST_WARM_UPS && warmUp.more(); turn--) {
            double[] figures = run(rotation.order(rotates ? turn : OTHER), side, other);
            warmUp.add(SIDE, figures[SIDE]);
            warmUp.add(OTHER, figures[OTHER]);
        }
        warm.run();
        for (int turn = 0; turn < turns; turn++) {
            double[] figures = run(rotation.order(rotates ? turn : OTHER), side, other);
            taken.side.add(figures[SIDE]);
            taken.other.add(figures[OTHER]);
            taken.ratios.add(figures[SIDE] / figures[OTHER]);
        }
        taken.settled = warmUp.settled();
        return taken;
    }

    /** Runs both sides in an order, and returns their figures by side. */
    private static <E extends Exception> double[] run(int[] order, Run<E> side, Run<E> other) throws E {
        double[] figures = new double[SIDES];
        for (int place : order) {
            figures[place] = place == SIDE ? side.run() : other.run();
        }
        return figures;
    }

    Samples side() {
        return side;
    }

    Samples other() {
        return other;
    }

    double ratio() {
        return MedianRatio.ofRates(Validity.NO_MODEL, side.median(), other.median());
    }

    /** Returns the least and the most ratio of one turn, for people. */
    String spread() {
        return String.format("(%.2f..%.2f)", ratios.least(), ratios.most());
    }

    String remark() {
        return Validity.NO_MODEL.remark(settled);
    }

    BenchReport.Row putRatio(BenchReport.Row row) {
        return row.put("ratio", ratio()).put("ratio_least", ratios.least()).put("ratio_most", ratios.most());
    }

    /** Puts the quartiles of both sides, by the names of their medians, and whether they had settled. */
    void putRest(BenchReport.Row row, String sideName, String otherName) {
        row.put(sideName + "_p25", side.lowerQuartile())
                .put(sideName + "_p75", side.upperQuartile())
                .put(otherName + "_p25", other.lowerQuartile())
                .put(otherName + "_p75", other.upperQuartile());
        Validity.NO_MODEL.put(row, settled);
    }
}
