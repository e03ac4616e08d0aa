package io.farheap.procedure.translate.flow;

import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A linear expression in a turn of a loop: multiples of local variables, with their values when the turn begins, and a
 * constant. Expressions have 64 bits and wrap. An int is represented only by its lowest 32 bits, until it is widened to
 * a long: then the expression must be in an int's range, and it is added to the {@code ints} of the result.
 *
 * <p>Expressions are comparable because a class can be constructed whose expressions all have the same hash: a hash set
 * then finds them by their order.
 *
 * @param terms factor by local variable; none is 0
 * @param ints the expressions that must be in an int's range
 */
public record LinearExpression(TreeMap<Integer, Long> terms, long constant, Set<LinearExpression> ints)
        implements Comparable<LinearExpression> {

    private static final int MOST_TERMS = 8;

    static LinearExpression of(long constant) {
        return new LinearExpression(new TreeMap<>(), constant, Set.of());
    }

    static LinearExpression ofLocal(int slot) {
        TreeMap<Integer, Long> terms = new TreeMap<>();
        terms.put(slot, 1L);
        return new LinearExpression(terms, 0, Set.of());
    }

    boolean isConstant() {
        return terms.isEmpty();
    }

    /** The sum, or null if it has too many terms. */
    @Nullable
    LinearExpression plus(LinearExpression other) {
        TreeMap<Integer, Long> sum = new TreeMap<>(terms);
        other.terms.forEach((slot, factor) -> {
            long both = sum.getOrDefault(slot, 0L) + factor;
            if (both == 0) {
                sum.remove(slot);
            } else {
                sum.put(slot, both);
            }
        });
        return sum.size() > MOST_TERMS
                ? null
                : new LinearExpression(sum, constant + other.constant, both(ints, other.ints));
    }

    private static Set<LinearExpression> both(Set<LinearExpression> first, Set<LinearExpression> second) {
        if (first.isEmpty() || second.isEmpty()) {
            return first.isEmpty() ? second : first;
        }
        Set<LinearExpression> all = new HashSet<>(first);
        all.addAll(second);
        return all;
    }

    LinearExpression times(long factor) {
        TreeMap<Integer, Long> product = new TreeMap<>();
        terms.forEach((slot, old) -> {
            if (old * factor != 0) {
                product.put(slot, old * factor);
            }
        });
        return new LinearExpression(product, constant * factor, ints);
    }

    LinearExpression with(Set<LinearExpression> more) {
        return more.isEmpty() ? this : new LinearExpression(terms, constant, both(ints, more));
    }

    /** The long to which this int is widened. */
    LinearExpression widened() {
        if (isConstant()) {
            return new LinearExpression(terms, (int) constant, ints);
        }
        Set<LinearExpression> all = new HashSet<>(ints);
        all.add(without());
        return new LinearExpression(terms, constant, all);
    }

    /** This expression without its {@code ints}. */
    LinearExpression without() {
        return ints.isEmpty() ? this : new LinearExpression(terms, constant, Set.of());
    }

    /**
     * How much the expression grows from one turn to the next, or null if that has too many terms.
     *
     * @param steps of the local variables that change; each is an expression of variables that do not
     */
    @Nullable
    LinearExpression step(Map<Integer, LinearExpression> steps) {
        LinearExpression sum = of(0);
        for (Map.Entry<Integer, Long> term : terms.entrySet()) {
            LinearExpression step = steps.get(term.getKey());
            if (step != null && sum != null) {
                sum = sum.plus(step.without().times(term.getValue()));
            }
        }
        return sum;
    }

    /** Orders by the constant, then by the terms. {@code ints} are not compared: the elements of sets have none. */
    @Override
    public int compareTo(LinearExpression other) {
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
