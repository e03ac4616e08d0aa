package io.farheap.bench.report;

import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.function.LongSupplier;

/**
 * Decides how long sides warm up: until the last three turns of each side agree within 5%. A least time comes before,
 * since turns of interpreted code agree, too. If the turns do not agree before a limit of time, the sides are measured
 * nevertheless, and their row says that they had not {@linkplain #settled() settled}. One thread at a time.
 */
public final class TurnWarmUp {

    /** How many turns of a side must agree. */
    public static final int AGREEING = 3;

    private static final double WITHIN = 0.05;

    /** By side: the figures of its last turns, in no order. */
    private final double[][] last;

    private final int[] turns;
    private final LongSupplier clock;
    private final long leastNanos;
    private final long mostNanos;
    private final long started;

    /**
     * Starts the warm-up.
     *
     * @param leastNanos for all sides together
     * @param mostNanos for all sides together; a turn that began before is completed
     * @param clock in ns, such as {@code System::nanoTime}
     */
    public TurnWarmUp(int sides, long leastNanos, long mostNanos, LongSupplier clock) {
        this.last = new double[sides][AGREEING];
        this.turns = new int[sides];
        this.leastNanos = leastNanos;
        this.mostNanos = mostNanos;
        this.clock = clock;
        this.started = clock.getAsLong();
    }

    /** Starts a warm-up that no time limits: the caller counts its turns. */
    public static TurnWarmUp untimed(int sides) {
        return new TurnWarmUp(sides, 0, Long.MAX_VALUE, System::nanoTime);
    }

    /**
     * Adds a turn of a side.
     *
     * @param figure a time or a rate, above 0
     */
    public void add(int side, double figure) {
        last[side][turns[side] % AGREEING] = figure;
        turns[side]++;
    }

    /** Whether the sides must take another turn before they are measured. */
    public boolean more() {
        long passed = clock.getAsLong() - started;
        return passed < leastNanos || passed < mostNanos && !settled();
    }

    /** Whether the last three turns of each side agree within 5%. */
    public boolean settled() {
        for (int side = 0; side < last.length; side++) {
            if (!settled(side)) {
                return false;
            }
        }
        return true;
    }

    /** Whether the last three turns of a side agree within 5%. */
    public boolean settled(int side) {
        return turns[side] >= AGREEING && agree(last[side]);
    }

    private static boolean agree(double[] figures) {
        DoubleSummaryStatistics all = Arrays.stream(figures).summaryStatistics();
        return all.getMin() > 0 && all.getMax() <= (1 + WITHIN) * all.getMin();
    }
}
