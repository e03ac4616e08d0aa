package io.farheap.bench.store;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.MedianRatio;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
import java.util.List;
import java.util.stream.Stream;

/**
 * The turns of a pair of sides, of which the other one is the baseline: rates of both, or times of both. The sides
 * alternate in their order if they do the same kind of work. Pairs of which rows stand below each other take turns,
 * too, in an order that rotates. The ratio is that of the medians. No RDMA device takes part, so no row is invalid.
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

    /**
     * A side and the baseline beside it.
     *
     * @param other the baseline
     */
    record Pair<E extends Exception>(Run<E> side, Run<E> other) {}

    private final Samples side = new Samples();
    private final Samples other = new Samples();
    private final Samples ratios = new Samples();
    private boolean settled;

    /**
     * Lets all pairs take their turns.
     *
     * @param rotates whether another side of a pair is the first in each turn; if not, the other side is always the
     *     first
     * @param turns that count, at least, after {@value TurnWarmUp#AGREEING} to {@value #MOST_WARM_UPS} that do not
     * @param warm runs between these
     * @return the turns of each pair, in their order
     */
    static <E extends Exception> List<StoreTurns> take(boolean rotates, int turns, List<Pair<E>> pairs, Runnable warm)
            throws E {
        List<StoreTurns> taken =
                Stream.generate(StoreTurns::new).limit(pairs.size()).toList();
        int counted = counted(pairs.size(), turns);
        Rotation ofPairs = new Rotation(pairs.size(), counted);
        Rotation inPair = new Rotation(SIDES, counted);
        TurnWarmUp warmUp = TurnWarmUp.untimed(SIDES * pairs.size());
        for (int turn = -1; turn >= -MOST_WARM_UPS && warmUp.more(); turn--) {
            for (int place : ofPairs.order(turn)) {
                double[] figures = run(inPair.order(rotates ? turn : OTHER), pairs.get(place));
                warmUp.add(SIDES * place + SIDE, figures[SIDE]);
                warmUp.add(SIDES * place + OTHER, figures[OTHER]);
            }
        }
        warm.run();
        for (int turn = 0; turn < counted; turn++) {
            for (int place : ofPairs.order(turn)) {
                taken.get(place).add(run(inPair.order(rotates ? turn : OTHER), pairs.get(place)));
            }
        }
        for (int place = 0; place < taken.size(); place++) {
            taken.get(place).settled = warmUp.settled(SIDES * place + SIDE) && warmUp.settled(SIDES * place + OTHER);
        }
        return taken;
    }

    /** Returns how many turns count if at least so many are wanted of so many pairs: even, and whole rotations. */
    static int counted(int pairs, int turns) {
        int round = new Rotation(pairs).round();
        int unit = round % 2 == 0 && turns >= pairs ? round : SIDES;
        return turns <= 1 ? turns : Math.ceilDiv(turns, unit) * unit;
    }

    private void add(double[] figures) {
        side.add(figures[SIDE]);
        other.add(figures[OTHER]);
        ratios.add(figures[SIDE] / figures[OTHER]);
    }

    /** Runs both sides in an order, and returns their figures by side. */
    private static <E extends Exception> double[] run(int[] order, Pair<E> pair) throws E {
        double[] figures = new double[SIDES];
        for (int place : order) {
            figures[place] = place == SIDE ? pair.side().run() : pair.other().run();
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
