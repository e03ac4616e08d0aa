package io.farheap.procedure.translate.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** A hostile class may have n sums with the same hash: by their order, a set still finds one in log n steps. */
class LinearExpressionTest {

    private static LinearExpression sum(int slot, long factor, long constant) {
        return Objects.requireNonNull(
                LinearExpression.ofLocal(slot).times(factor).plus(LinearExpression.of(constant)));
    }

    private static List<LinearExpression> colliding() {
        List<LinearExpression> sums = new ArrayList<>();
        for (long factor = 1; factor <= 20; factor++) {
            for (int slot = 0; slot < 5; slot++) {
                // The hash of a term is its slot and its factor, exclusive or.
                sums.add(sum(slot, factor, 100_000 - 31 * (slot ^ factor)));
            }
        }
        return sums;
    }

    @Test
    void sumsOfOneHashHaveAnOrder() {
        List<LinearExpression> sums = colliding();
        assertEquals(
                1, sums.stream().mapToInt(LinearExpression::hashCode).distinct().count());
        for (LinearExpression one : sums) {
            for (LinearExpression other : sums) {
                assertEquals(one.equals(other), one.compareTo(other) == 0, () -> one + " and " + other);
                assertEquals(Integer.signum(one.compareTo(other)), -Integer.signum(other.compareTo(one)));
            }
        }
    }
}
