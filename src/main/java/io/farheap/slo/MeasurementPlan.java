package io.farheap.slo;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The configurations that must be measured for a model, in order (Redy, section 5.2, "Offline Modeling"): first the
 * queue depths that give the lower bound of q, then the points of {@link GridLevels} in the tree's order. If a larger
 * value of one parameter brought neither more throughput nor less latency, still larger values of that parameter alone
 * are omitted, and {@link MarginalGain#beyond estimated}; figures that have not settled end a line only if they are
 * worse by more than they are uncertain. A grid of up to {@value #SMALL_GRID} points is measured completely instead,
 * since an omitted point is estimated at best, and {@value #ROUNDS} times, in rounds, and the worst figure of each
 * point counts: other load on a shared machine changes from one second to the next, by more than a longer measurement
 * would show. The order follows from the figures alone, so a caller that records the same figures again continues where
 * an earlier run stopped. One thread at a time.
 */
public final class MeasurementPlan {

    /** Part of the meaning of a model file, as {@link MarginalGain#TOLERANCE} is. */
    static final int SMALL_GRID = 64;

    static final int ROUNDS = 3;

    /** @param ended by parameter and point: whether the line of that parameter has ended there */
    private record Points(MeasuredGrid grid, PointOrder order, boolean[][] ended) {}

    private final ModelSubject subject;
    private final DepthProbe probe;
    private final Map<Configuration, Performance> probed = new HashMap<>();
    /** Null until the lower bound of q is known. */
    private @Nullable Points points;

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
        return points != null && position == points.order.count();
    }

    /**
     * The next configuration to measure.
     *
     * @throws IllegalStateException if the plan is complete
     */
    public Configuration next() {
        if (complete()) {
            throw new IllegalStateException(
                    "the plan is complete after " + measured + " measurements; there is nothing to measure next");
        }
        return points == null ? probe.next() : points.order.configuration(position);
    }

    /**
     * Records the performance of {@link #next}.
     *
     * @throws IllegalArgumentException if it has reads or writes and the subject's mix has not, or the reverse
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
        if (points == null) {
            probed.put(configuration, performance);
            probe.record(performance);
            if (probe.found() > 0) {
                MeasuredGrid grid = new MeasuredGrid(subject.space(probe.found()));
                points = new Points(grid, new PointOrder(grid), new boolean[Parameter.values().length][grid.points()]);
                advance(points);
            }
        } else {
            if (round == 0) {
                put(points, performance);
            } else {
                worsen(points, performance);
            }
            advance(points);
        }
    }

    private void advance(Points all) {
        passKnown(all);
        if (position == all.order.count() && round + 1 < rounds(all.order.count())) {
            round++;
            position = 0;
        }
    }

    private static int rounds(int points) {
        return points <= SMALL_GRID ? ROUNDS : 1;
    }

    private void worsen(Points all, Performance performance) {
        int index = all.order.index(position);
        all.grid.set(index, all.grid.get(index).worst(performance));
        position++;
    }

    private void passKnown(Points all) {
        while (round == 0 && position < all.order.count()) {
            if (leavesOut(all)) {
                leftOut++;
                position++;
                continue;
            }
            Performance known = probed.get(all.order.configuration(position));
            if (known == null) {
                return;
            }
            put(all, known);
        }
    }

    /**
     * Whether one of the lines that lead to this point has ended; then it has also ended for the points further along,
     * and the point gets an estimate, which is the worst of those lines' estimates.
     */
    private boolean leavesOut(Points all) {
        int index = all.order.index(position);
        Performance estimate = null;
        for (Parameter parameter : Parameter.values()) {
            int before = all.order.predecessor(position, parameter);
            if (before != PointOrder.NONE && all.ended[parameter.ordinal()][before]) {
                all.ended[parameter.ordinal()][index] = true;
                Performance beyond = MarginalGain.beyond(all.grid.get(before), all.order.increase(position, parameter));
                estimate = estimate == null ? beyond : estimate.worst(beyond);
            }
        }
        if (estimate == null) {
            return false;
        }
        all.grid.estimate(index, estimate);
        return true;
    }

    private void put(Points all, Performance performance) {
        int index = all.order.index(position);
        all.grid.set(index, performance);
        for (Parameter parameter : Parameter.values()) {
            int before = all.order.predecessor(position, parameter);
            if (all.order.count() > SMALL_GRID && before != PointOrder.NONE && all.grid.measured(before)) {
                all.ended[parameter.ordinal()][index] = MarginalGain.ends(all.grid.get(before), performance);
            }
        }
        position++;
    }

    /** How many measurements were recorded. */
    public int measured() {
        return measured;
    }

    /** How many points early termination has omitted so far. */
    public int leftOut() {
        return leftOut;
    }

    /** How many measurements remain at most; until the lower bound of q is known, how many remain if it is 1. */
    public int atMost() {
        if (points != null) {
            int count = points.order.count();
            return (rounds(count) - round) * count - position;
        }
        int count = new PointOrder(new MeasuredGrid(subject.space(1))).count();
        return rounds(count) * count - measured;
    }

    /** @throws IllegalStateException if the plan is not complete */
    public PerformanceModel model() {
        if (points == null || !complete()) {
            throw new IllegalStateException("the plan has " + measured + " measurements and up to " + atMost()
                    + " to come; measure them all before the model is used");
        }
        return new PerformanceModel(subject, points.grid);
    }
}
