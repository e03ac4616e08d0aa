package io.farheap.bench.report;

import java.util.List;
import java.util.stream.Stream;

/**
 * The figures of sides that took turns: first until they had {@linkplain TurnWarmUp warmed up}, then as often as was
 * wanted, or a few times more until the {@linkplain Rotation order} has favoured none.
 */
public final class Turns {

    /** One side of a comparison, which does the same work in each turn. */
    @FunctionalInterface
    public interface Side<E extends Exception> {

        /**
         * Runs one turn.
         *
         * @param turn from 0; negative in the warm-up
         * @return the figure of this turn: a time per operation, or a rate
         */
        double run(int turn) throws E;
    }

    private final List<Samples> samples;
    private final TurnWarmUp warmUp;

    private Turns(List<Samples> samples, TurnWarmUp warmUp) {
        this.samples = samples;
        this.warmUp = warmUp;
    }

    /**
     * Lets the sides take their turns on this thread.
     *
     * @param warmUp of as many sides
     * @param turns that count, at least: as many as {@link Rotation#turns}
     * @param warm runs between the warm-up and the first turn that counts
     */
    public static <E extends Exception> Turns take(
            List<? extends Side<E>> sides, TurnWarmUp warmUp, int turns, Runnable warm) throws E {
        return take(sides, warmUp, Integer.MAX_VALUE, turns, warm);
    }

    /**
     * As {@link #take(List, TurnWarmUp, int, Runnable)}, with a limit on the warm-up's turns.
     *
     * @param warmUps at most so many turns that do not count
     */
    public static <E extends Exception> Turns take(
            List<? extends Side<E>> sides, TurnWarmUp warmUp, int warmUps, int turns, Runnable warm) throws E {
        int counted = Rotation.turns(sides.size(), turns);
        Rotation rotation = new Rotation(sides.size(), counted);
        for (int turn = -1; turn >= -warmUps && warmUp.more(); turn--) {
            for (int side : rotation.order(turn)) {
                warmUp.add(side, sides.get(side).run(turn));
            }
        }
        warm.run();
        List<Samples> samples =
                Stream.generate(Samples::new).limit(sides.size()).toList();
        for (int turn = 0; turn < counted; turn++) {
            for (int side : rotation.order(turn)) {
                samples.get(side).add(sides.get(side).run(turn));
            }
        }
        return new Turns(samples, warmUp);
    }

    /** Returns the figures of a side, by its place in the list of sides. */
    public Samples of(int side) {
        return samples.get(side);
    }

    /** Whether the last three turns of the warm-up agreed within 5%, for each side. */
    public boolean settled() {
        return warmUp.settled();
    }

    /**
     * Whether the last three turns of the warm-up agreed within 5% for one side: for a report in which each side has a
     * row of its own.
     *
     * @param side its place in the list of sides
     */
    public boolean settled(int side) {
        return warmUp.settled(side);
    }
}
