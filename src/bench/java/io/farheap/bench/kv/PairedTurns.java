package io.farheap.bench.kv;

import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Validity;
import java.util.List;
import java.util.function.DoubleSupplier;

/**
 * The figures of two sides that took turns in rotating order. The number of turns before those that count is fixed,
 * since a side may have room for so many turns only; {@code settled} says whether the last three of each side agreed.
 */
record PairedTurns(Samples ours, Samples other, Validity validity, boolean settled) {

    /** Turns before those that count: until all code is compiled. */
    static final int WARM_UPS = 12;

    private static final int SIDES = 2;

    /**
     * Runs the turns.
     *
     * @param turns of each side that count, at least: see {@link #counted}
     */
    static PairedTurns take(int turns, ModelLateness late, DoubleSupplier ours, DoubleSupplier other) {
        List<DoubleSupplier> sides = List.of(ours, other);
        List<Samples> samples = List.of(new Samples(), new Samples());
        int counted = counted(turns);
        Rotation rotation = new Rotation(SIDES, counted);
        TurnWarmUp warmUp = new TurnWarmUp(SIDES, 0, 0, System::nanoTime);
        for (int turn = -WARM_UPS; turn < counted; turn++) {
            if (turn == 0) {
                late.restart();
            }
            for (int side : rotation.order(turn)) {
                double figure = sides.get(side).getAsDouble();
                if (turn < 0) {
                    warmUp.add(side, figure);
                } else {
                    samples.get(side).add(figure);
                }
            }
        }
        return new PairedTurns(samples.get(0), samples.get(1), late.validity(), warmUp.settled());
    }

    /** Returns how many turns of each side count if at least so many are wanted: each side is the first as often. */
    static int counted(int turns) {
        return Rotation.turns(SIDES, turns);
    }

    /** Returns the ratio of our median to the other one; NaN if it is invalid. */
    double ratio() {
        return validity.compared(ours.median() / other.median());
    }

    /** Puts the figures of both sides, by their names; null if they are invalid. */
    BenchReport.Row put(BenchReport.Row row, String ourName, String otherName) {
        return put(put(row, ourName, ours), otherName, other);
    }

    private BenchReport.Row put(BenchReport.Row row, String name, Samples samples) {
        return row.put(name, validity.compared(samples.median()))
                .put(name + "_p25", validity.compared(samples.lowerQuartile()))
                .put(name + "_p75", validity.compared(samples.upperQuartile()))
                .put(name + "_least", validity.compared(samples.least()))
                .put(name + "_most", validity.compared(samples.most()));
    }
}
