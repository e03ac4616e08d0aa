package io.farheap.slo;

import java.util.HashMap;
import java.util.Map;

/**
 * Which configurations a model needs measured, and in which order (Redy, section 5.2, "Offline Modeling"): first the
 * queue depths that give the lower bound of q, then the points of {@link Levels} in the tree's order. Where more of one
 * parameter brought no more throughput and no less latency, still larger values of that parameter alone are left out,
 * and {@link Growth#beyond estimated}; but a grid of up to {@value #SMALL_GRID} points is measured whole, since what is
 * left out is estimated at best, and {@value #ROUNDS} times, one round after the other, of which the worst counts: what
 * a shared machine does changes from one second to another, by more than a longer measurement would tell. The order
 * follows from the figures alone, so whoever records the same figures again goes on where he stopped. One thread at a
 * time.
 */
public final class MeasurementPlan {

    /** Part of what a model file means, as {@link Growth#TOLERANCE} is. */
    static final int SMALL_GRID = 64;

    static final int ROUNDS = 3;

    private final ModelSubject subject;
    private final DepthProbe probe;
    private final Map<Configuration, Performance> probed = new HashMap<>();
    private MeasuredGrid grid;
    private PointOrder order;
    private boolean[][] ended;
    private int round;
    private int position;
    private int measured;
    private int leftOut;

    public MeasurementPlan(ModelSubject subject) {
        this.subject = subject;
        probe = new DepthProbe(subject.deviceDepth());
    }

    public ModelSubject subject() {
        return subject;
    }

    /** Whether nothing is left to measure. */
    public boolean complete() {
        return grid != null && position == order.count();
    }

    /**
     * The configuration to measure next.
     *
     * @throws IllegalStateException where the plan is complete
     */
    public Configuration next() {
        if (complete()) {
            throw new IllegalStateException(
                    "the plan is complete after " + measured + " measurements; there is nothing to measure next");
        }
        return grid == null ? probe.next() : order.configuration(position);
    }

    /**
     * What {@link #next} did.
     *
     * @throws IllegalArgumentException where it has reads or writes and the subject's mix does not, or the other way
     *     round
     */
    public void record(Performance performance) {
        Configuration configuration = next();
        if (performance.readsPerSecond() > 0 != subject.hasReads()
                || performance.writesPerSecond() > 0 != subject.hasWrites()) {
            throw new IllegalArgumentException(
                    "configuration " + configuration + " did " + performance + " in a mix of " + subject.readPercent()
                            + "% reads; measure operations of that mix, and until some of each have completed");
        }
        measured++;
        if (grid == null) {
            probed.put(configuration, performance);
            probe.record(performance);
            if (probe.found() > 0) {
                grid = new MeasuredGrid(subject.space(probe.found()));
                order = new PointOrder(grid);
                ended = new boolean[Parameter.values().length][grid.points()];
                advance();
            }
        } else {
            if (round == 0) {
                put(performance);
            } else {
                worsen(performance);
            }
            advance();
        }
    }

    private void advance() {
        passKnown();
        if (position == order.count() && round + 1 < rounds(order.count())) {
            round++;
            position = 0;
        }
    }

    private static int rounds(int points) {
        return points <= SMALL_GRID ? ROUNDS : 1;
    }

    private void worsen(Performance performance) {
        int index = order.index(position);
        grid.set(index, grid.get(index).worst(performance));
        position++;
    }

    private void passKnown() {
        while (round == 0 && position < order.count()) {
            if (leavesOut()) {
                leftOut++;
                position++;
                continue;
            }
            Performance known = probed.get(order.configuration(position));
            if (known == null) {
                return;
            }
            put(known);
        }
    }

    /**
     * Whether one of the lines that lead here has ended; it stays so for what lies further on that line. The estimate
     * is the worst of theirs.
     */
    private boolean leavesOut() {
        int index = order.index(position);
        Performance estimate = null;
        for (Parameter parameter : Parameter.values()) {
            int before = order.predecessor(position, parameter);
            if (before != PointOrder.NONE && ended[parameter.ordinal()][before]) {
                ended[parameter.ordinal()][index] = true;
                Performance beyond = Growth.beyond(grid.get(before), order.increase(position, parameter));
                estimate = estimate == null ? beyond : estimate.worst(beyond);
            }
        }
        if (estimate == null) {
            return false;
        }
        grid.estimate(index, estimate);
        return true;
    }

    private void put(Performance performance) {
        int index = order.index(position);
        grid.set(index, performance);
        for (Parameter parameter : Parameter.values()) {
            int before = order.predecessor(position, parameter);
            if (order.count() > SMALL_GRID && before != PointOrder.NONE && grid.measured(before)) {
                ended[parameter.ordinal()][index] = Growth.ends(grid.get(before), performance);
            }
        }
        position++;
    }

    /** How many measurements were recorded. */
    public int measured() {
        return measured;
    }

    /** How many points early termination has left out so far. */
    public int leftOut() {
        return leftOut;
    }

    /** How many measurements are still to come, at most; before the lower bound of q is known, how many if it is 1. */
    public int atMost() {
        int points = grid != null ? order.count() : new PointOrder(new MeasuredGrid(subject.space(1))).count();
        return grid != null ? (rounds(points) - round) * points - position : rounds(points) * points - measured;
    }

    /** @throws IllegalStateException where something is left to measure */
    public PerformanceModel model() {
        if (!complete()) {
            throw new IllegalStateException("the plan has " + measured + " measurements and up to " + atMost()
                    + " to come; measure them all before the model is used");
        }
        return new PerformanceModel(subject, grid);
    }
}
