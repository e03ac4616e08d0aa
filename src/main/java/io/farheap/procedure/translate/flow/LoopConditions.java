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

/**
 * Collects the conditions under which several turns of a loop need no comparison: addresses in the window, ints that do
 * not overflow, branches that stay in the loop. Each is a linear expression that must be in a range in each turn. Since
 * the expression grows by the same step from turn to turn, the number of turns for which it stays in its range is one
 * division ({@code CallFrame.turns}).
 */
public final class LoopConditions {

    /** Most bounds and strides of a loop: each costs a division when turns are counted. */
    private static final int MOST = 6;

    private static final long FARTHEST = 1L << 46;
    private static final long MOST_STEP = 1 << 20;
    private static final long MOST_EXTRA = 1 << 10;

    /**
     * The range in which an expression must be. Ranges are given as the least value, and the number of values from
     * there on.
     */
    public enum Range {
        WINDOW,
        /** The range of an int. */
        INT(-1L << 31, 1L << 32),
        /** Small enough that the sum with a difference in {@link #LEFT} does not wrap. */
        LONG(-1L << 61, 1L << 62),
        /** The distance to the value at which a branch leaves the loop: at least 0. */
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
     * An expression that must be in a range in each turn.
     *
     * @param first its value in the next turn
     * @param step how much it grows from one turn to the next
     */
    public record LoopBound(LinearExpression first, LinearExpression step, Range range) {}

    /**
     * Accesses whose addresses advance together by a constant. An access's native address is computed from the first
     * turn's address and the distance that the turns have advanced. That distance is masked with a power of two less 1,
     * chosen so that the result is in the part of the region even if a processor mispredicts a comparison and runs
     * ahead ({@code CallFrame.stride}).
     *
     * @param first lowest address in the next turn
     * @param step bytes by which each turn advances, above 0
     * @param extra distance from the lowest to the highest address of a turn
     */
    public record Stride(LinearExpression first, long step, long extra) {}

    /**
     * The place of an access in its stride.
     *
     * @param stride index of the stride
     * @param distance from the stride's lowest address
     */
    public record StridePosition(int stride, long distance) {}

    /** By local variable: how much it changes in a turn; absent if it does not change. */
    private final Map<Integer, LinearExpression> steps;
    /** Whether a local variable is an int when a turn begins; otherwise it is a long. */
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

    /** Blocks whose branch stays in the loop as long as the bounds hold. */
    BitSet sure() {
        return sure;
    }

    boolean fit() {
        return known && all.size() + strides.size() <= MOST;
    }

    /**
     * Adds the conditions of the loop's accesses. Addresses with the same terms differ by a constant, and an address
     * between two addresses in the window is in the window: so the lowest and the highest of them are enough. If they
     * are close to each other, and advance by a constant, they become one {@link Stride}.
     *
     * @param addresses by instruction
     * @return whether there are not too many conditions, and all are known
     */
    boolean addresses(Map<Integer, LinearExpression> addresses) {
        Map<TreeMap<Integer, Long>, List<Integer>> groups = new LinkedHashMap<>();
        for (Map.Entry<Integer, LinearExpression> entry : addresses.entrySet()) {
            LinearExpression address = entry.getValue();
            ints(address);
            if (address.constant() >= FARTHEST || address.constant() <= -FARTHEST) {
                // The difference of two constants must not wrap.
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

    /** By instruction of the access. */
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

    /**
     * Whether the expression is a local variable that is an int at the turn's start, and so in an int's range. A long
     * whose low 32 bits are used as an int need not be.
     */
    private boolean isInt(LinearExpression sum) {
        return sum.constant() == 0
                && sum.terms().size() == 1
                && sum.terms().containsValue(1L)
                && intLocal.test(sum.terms().firstKey());
    }

    /**
     * Adds the bounds under which a branch stays in the loop, if the loop can have more bounds; otherwise the branch is
     * compared in each turn.
     *
     * @param taken whether taking the branch stays in the loop
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
