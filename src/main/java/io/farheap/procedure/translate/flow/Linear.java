package io.farheap.procedure.translate.flow;

import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A number in a turn of a loop: a sum of multiples of local variables, as they are when the turn begins, and a
 * constant. Sums are of 64 bits and wrap. An int is what it is only in its lowest 32 bits, until it is made a long:
 * then the sum must be in an int's range, and stands in {@code ints} of what it goes into.
 *
 * <p>They are comparable since a class can be made whose sums have one hash: a set finds them by their order then.
 *
 * @param terms by local variable; none is 0
 * @param ints the sums that must be in an int's range
 */
public record Linear(TreeMap<Integer, Long> terms, long constant, Set<Linear> ints) implements Comparable<Linear> {

    private static final int MOST_TERMS = 8;

    static Linear of(long constant) {
        return new Linear(new TreeMap<>(), constant, Set.of());
    }

    static Linear ofLocal(int slot) {
        TreeMap<Integer, Long> terms = new TreeMap<>();
        terms.put(slot, 1L);
        return new Linear(terms, 0, Set.of());
    }

    boolean isConstant() {
        return terms.isEmpty();
    }

    /** Null where it has too many terms. */
    @Nullable
    Linear plus(Linear other) {
        TreeMap<Integer, Long> sum = new TreeMap<>(terms);
        other.terms.forEach((slot, factor) -> {
            long both = sum.getOrDefault(slot, 0L) + factor;
            if (both == 0) {
                sum.remove(slot);
            } else {
                sum.put(slot, both);
            }
        });
        return sum.size() > MOST_TERMS ? null : new Linear(sum, constant + other.constant, both(ints, other.ints));
    }

    private static Set<Linear> both(Set<Linear> first, Set<Linear> second) {
        if (first.isEmpty() || second.isEmpty()) {
            return first.isEmpty() ? second : first;
        }
        Set<Linear> all = new HashSet<>(first);
        all.addAll(second);
        return all;
    }

    Linear times(long factor) {
        TreeMap<Integer, Long> product = new TreeMap<>();
        terms.forEach((slot, old) -> {
            if (old * factor != 0) {
                product.put(slot, old * factor);
            }
        });
        return new Linear(product, constant * factor, ints);
    }

    Linear with(Set<Linear> more) {
        return more.isEmpty() ? this : new Linear(terms, constant, both(ints, more));
    }

    /** Of an int: the long that it is. */
    Linear widened() {
        if (isConstant()) {
            return new Linear(terms, (int) constant, ints);
        }
        Set<Linear> all = new HashSet<>(ints);
        all.add(without());
        return new Linear(terms, constant, all);
    }

    /** The sum alone. */
    Linear without() {
        return ints.isEmpty() ? this : new Linear(terms, constant, Set.of());
    }

    /**
     * By how much it grows from one turn to the next.
     *
     * @param steps of local variables that change, which are sums of those that do not
     */
    @Nullable
    Linear step(Map<Integer, Linear> steps) {
        Linear sum = of(0);
        for (Map.Entry<Integer, Long> term : terms.entrySet()) {
            Linear step = steps.get(term.getKey());
            if (step != null && sum != null) {
                sum = sum.plus(step.without().times(term.getValue()));
            }
        }
        return sum;
    }

    /** By the constant, then by the terms; {@code ints} are left aside, which the elements of sets have none of. */
    @Override
    public int compareTo(Linear other) {
        int order = Long.compare(constant, other.constant);
        if (order == 0) {
            order = Integer.compare(terms.size(), other.terms.size());
        }
        Iterator<Map.Entry<Integer, Long>> theirs = other.terms.entrySet().iterator();
        for (Map.Entry<Integer, Long> term : terms.entrySet()) {
            if (order != 0) {
                return order;
            }
            Map.Entry<Integer, Long> their = theirs.next();
            order = Integer.compare(term.getKey(), their.getKey());
            if (order == 0) {
                order = Long.compare(term.getValue(), their.getValue());
            }
        }
        return order;
    }
}
