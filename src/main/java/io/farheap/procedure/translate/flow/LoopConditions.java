package io.farheap.procedure.translate.flow;

import java.lang.classfile.Opcode;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/** Collects what must hold in each of several turns of a loop. */
public final class LoopConditions {

    private static final int MOST = 6;
    private static final long FARTHEST = 1L << 46;
    private static final long MOST_STEP = 1 << 20;
    private static final long MOST_EXTRA = 1 << 10;

    /** What a sum must be in. */
    public enum Range {
        WINDOW,
        /** That of an int. */
        INT(-1L << 31, 1L << 32),
        /** So that a difference of two does not wrap. */
        LONG(-1L << 61, 1L << 62),
        /** What is left until a branch leaves the loop. */
        LEFT(0, 1L << 62);

        public final long least;
        public final long room;

        Range() {
            this(0, 0);
        }

        Range(long least, long room) {
            this.least = least;
            this.room = room;
        }
    }

    /**
     * A sum that must be in a range.
     *
     * @param first in the next turn
     * @param step by how much more it is in the one behind that
     */
    public record LoopBound(LinearExpression first, LinearExpression step, Range range) {}

    /**
     * Accesses that advance together by a constant. Places are the first one's, and what the turns advance by: that is
     * masked so that it stays below a power of two which there is room for, as wherever in its region the first is.
     *
     * @param first address in the next turn
     * @param step above 0
     * @param extra by how much the last address is above the first
     */
    public record Stride(LinearExpression first, long step, long extra) {}

    /**
     * Of an access.
     *
     * @param distance from the first address of its stride
     */
    public record StridePosition(int stride, long distance) {}

    /** By local variable: by how much it changes, if it does. */
    private final Map<Integer, LinearExpression> steps;
    /** Whether a local variable is an int when a turn begins; else it is a long. */
    private final IntPredicate intLocal;

    private final Set<LoopBound> all = new LinkedHashSet<>();
    private final List<Stride> strides = new ArrayList<>();
    private final Map<Integer, StridePosition> places = new HashMap<>();
    private final BitSet sure = new BitSet();
    private boolean known = true;

    LoopConditions(Map<Integer, LinearExpression> steps, IntPredicate intLocal) {
        this.steps = steps;
        this.intLocal = intLocal;
        steps.values().forEach(this::ints);
    }

    List<LoopBound> all() {
        return List.copyOf(all);
    }

    /** Blocks whose branches stay in the loop. */
    BitSet sure() {
        return sure;
    }

    boolean fit() {
        return known && all.size() + strides.size() <= MOST;
    }

    /**
     * What is between two addresses that are in the window is in it: of sums with the same terms, two are enough. If
     * they are close to each other, and advance by a constant, they are taken together.
     *
     * @param addresses by instruction
     */
    boolean addresses(Map<Integer, LinearExpression> addresses) {
        Map<TreeMap<Integer, Long>, List<Integer>> groups = new LinkedHashMap<>();
        for (Map.Entry<Integer, LinearExpression> entry : addresses.entrySet()) {
            LinearExpression address = entry.getValue();
            ints(address);
            if (address.constant() >= FARTHEST || address.constant() <= -FARTHEST) {
                // A distance must not wrap.
                return false;
            }
            groups.computeIfAbsent(address.terms(), _ -> new ArrayList<>()).add(entry.getKey());
        }
        for (List<Integer> group : groups.values()) {
            LinearExpression first = Objects.requireNonNull(addresses.get(group.getFirst()));
            LinearExpression last = first;
            for (int access : group) {
                LinearExpression address = Objects.requireNonNull(addresses.get(access));
                first = address.constant() < first.constant() ? address : first;
                last = address.constant() > last.constant() ? address : last;
            }
            LinearExpression step = first.step(steps);
            long extra = last.constant() - first.constant();
            if (step != null
                    && step.isConstant()
                    && step.constant() > 0
                    && step.constant() <= MOST_STEP
                    && extra <= MOST_EXTRA) {
                for (int access : group) {
                    LinearExpression address = Objects.requireNonNull(addresses.get(access));
                    places.put(access, new StridePosition(strides.size(), address.constant() - first.constant()));
                }
                strides.add(new Stride(first.without(), step.constant(), extra));
            } else {
                add(first, Range.WINDOW);
                add(last, Range.WINDOW);
            }
        }
        return fit();
    }

    List<Stride> strides() {
        return strides;
    }

    /** By instruction. */
    Map<Integer, StridePosition> places() {
        return places;
    }

    private void ints(LinearExpression sum) {
        for (LinearExpression number : sum.ints()) {
            add(number, Range.INT);
        }
    }

    private void add(LinearExpression first, Range range) {
        LinearExpression step = first.step(steps);
        if (step == null) {
            known = false;
            return;
        }
        boolean still = step.isConstant() && step.constant() == 0;
        if (range != Range.INT || !still || !isInt(first)) {
            all.add(new LoopBound(first.without(), step, range));
        }
    }

    /** Whether it is a local variable that is an int, and so in an int's range; a long is cut to one only here. */
    private boolean isInt(LinearExpression sum) {
        return sum.constant() == 0
                && sum.terms().size() == 1
                && sum.terms().containsValue(1L)
                && intLocal.test(sum.terms().firstKey());
    }

    /**
     * Adds what makes it sure that a branch stays in the loop, if there is room for it.
     *
     * @param taken whether it stays where the branch is taken
     */
    void branch(int block, Opcode opcode, boolean taken, LinearOperands.LinearComparison compared) {
        Set<LoopBound> before = new LinkedHashSet<>(all);
        boolean wasKnown = known;
        boolean strict =
                switch (opcode) {
                    case IFLT, IFGT, IF_ICMPLT, IF_ICMPGT -> taken;
                    default -> !taken;
                };
        boolean less =
                switch (opcode) {
                    case IFLT, IFLE, IF_ICMPLT, IF_ICMPLE -> taken;
                    default -> !taken;
                };
        LinearExpression smaller = less ? compared.first() : compared.second();
        LinearExpression greater = less ? compared.second() : compared.first();
        LinearExpression left = greater.plus(smaller.times(-1));
        LinearExpression more = left == null ? null : left.plus(LinearExpression.of(strict ? -1 : 0));
        if (more != null) {
            ints(more);
            if (compared.longs()) {
                add(still(smaller) ? smaller : greater, Range.LONG);
            }
            add(more, Range.LEFT);
        }
        if (more != null && fit()) {
            sure.set(block);
        } else {
            all.clear();
            all.addAll(before);
            known = wasKnown;
        }
    }

    private boolean still(LinearExpression sum) {
        LinearExpression step = sum.step(steps);
        return step != null && step.isConstant() && step.constant() == 0;
    }
}
