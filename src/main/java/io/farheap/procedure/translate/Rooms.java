package io.farheap.procedure.translate;

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

/** Collects what must hold in each of several turns of a loop. */
final class Rooms {

    private static final int MOST = 6;
    private static final long FARTHEST = 1L << 46;
    private static final long MOST_STEP = 1 << 20;
    private static final long MOST_EXTRA = 1 << 10;

    /** By local variable: by how much it changes, if it does. */
    private final Map<Integer, Linear> steps;

    private final Set<Ahead.Room> all = new LinkedHashSet<>();
    private final List<Ahead.Stride> strides = new ArrayList<>();
    private final Map<Integer, Ahead.Place> places = new HashMap<>();
    private final BitSet sure = new BitSet();
    private boolean known = true;

    Rooms(Map<Integer, Linear> steps) {
        this.steps = steps;
        steps.values().forEach(this::ints);
    }

    List<Ahead.Room> all() {
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
    boolean addresses(Map<Integer, Linear> addresses) {
        Map<TreeMap<Integer, Long>, List<Integer>> groups = new LinkedHashMap<>();
        for (Map.Entry<Integer, Linear> entry : addresses.entrySet()) {
            Linear address = entry.getValue();
            ints(address);
            if (address.constant() >= FARTHEST || address.constant() <= -FARTHEST) {
                // A distance must not wrap.
                return false;
            }
            groups.computeIfAbsent(address.terms(), _ -> new ArrayList<>()).add(entry.getKey());
        }
        for (List<Integer> group : groups.values()) {
            Linear first = Objects.requireNonNull(addresses.get(group.getFirst()));
            Linear last = first;
            for (int access : group) {
                Linear address = Objects.requireNonNull(addresses.get(access));
                first = address.constant() < first.constant() ? address : first;
                last = address.constant() > last.constant() ? address : last;
            }
            Linear step = first.step(steps);
            long extra = last.constant() - first.constant();
            if (step != null
                    && step.isConstant()
                    && step.constant() > 0
                    && step.constant() <= MOST_STEP
                    && extra <= MOST_EXTRA) {
                for (int access : group) {
                    Linear address = Objects.requireNonNull(addresses.get(access));
                    places.put(access, new Ahead.Place(strides.size(), address.constant() - first.constant()));
                }
                strides.add(new Ahead.Stride(first.without(), step.constant(), extra));
            } else {
                add(first, Ahead.Range.WINDOW);
                add(last, Ahead.Range.WINDOW);
            }
        }
        return fit();
    }

    List<Ahead.Stride> strides() {
        return strides;
    }

    /** By instruction. */
    Map<Integer, Ahead.Place> places() {
        return places;
    }

    private void ints(Linear sum) {
        for (Linear number : sum.ints()) {
            add(number, Ahead.Range.INT);
        }
    }

    private void add(Linear first, Ahead.Range range) {
        Linear step = first.step(steps);
        if (step == null) {
            known = false;
            return;
        }
        boolean still = step.isConstant() && step.constant() == 0;
        boolean local = first.constant() == 0
                && first.terms().size() == 1
                && first.terms().containsValue(1L);
        // A local variable that does not change is in an int's range if it is an int.
        if (range != Ahead.Range.INT || !local || !still) {
            all.add(new Ahead.Room(first.without(), step, range));
        }
    }

    /**
     * Adds what makes it sure that a branch stays in the loop, if there is room for it.
     *
     * @param taken whether it stays where the branch is taken
     */
    void branch(int block, Opcode opcode, boolean taken, LinearOperands.Compared compared) {
        Set<Ahead.Room> before = new LinkedHashSet<>(all);
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
        Linear smaller = less ? compared.first() : compared.second();
        Linear greater = less ? compared.second() : compared.first();
        Linear left = greater.plus(smaller.times(-1));
        Linear more = left == null ? null : left.plus(Linear.of(strict ? -1 : 0));
        if (more != null) {
            ints(more);
            if (compared.longs()) {
                add(still(smaller) ? smaller : greater, Ahead.Range.LONG);
            }
            add(more, Ahead.Range.LEFT);
        }
        if (more != null && fit()) {
            sure.set(block);
        } else {
            all.clear();
            all.addAll(before);
            known = wasKnown;
        }
    }

    private boolean still(Linear sum) {
        Linear step = sum.step(steps);
        return step != null && step.isConstant() && step.constant() == 0;
    }
}
