package io.farheap.procedure.translate.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Sums that a class was made for, all with one hash: a set finds one of n of them in log n steps by their order. */
class LinearTest {

    private static Linear sum(int slot, long factor, long constant) {
        return Objects.requireNonNull(Linear.ofLocal(slot).times(factor).plus(Linear.of(constant)));
    }

    private static List<Linear> colliding() {
        List<Linear> sums = new ArrayList<>();
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
        List<Linear> sums = colliding();
        assertEquals(1, sums.stream().mapToInt(Linear::hashCode).distinct().count());
        for (Linear one : sums) {
            for (Linear other : sums) {
                assertEquals(one.equals(other), one.compareTo(other) == 0, () -> one + " and " + other);
                assertEquals(Integer.signum(one.compareTo(other)), -Integer.signum(other.compareTo(one)));
            }
        }
    }
}
