package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/** Sides that take turns, by a clock that each of their turns advances. */
class TurnsTest {

    private static final long TURN = 10;

    private final StringBuilder order = new StringBuilder();
    private long now;

    private Turns.Side<RuntimeException> side(char name, IntToDoubleFunction figure) {
        return turn -> {
            order.append(name);
            now += TURN;
            return figure.applyAsDouble(turn);
        };
    }

    @Test
    void theOrderRotatesFromTheWarmUpOn() {
        List<Turns.Side<RuntimeException>> sides = List.of(side('a', turn -> 1), side('b', turn -> 2));
        Turns taken = Turns.take(sides, new TurnWarmUp(2, 0, 1000, () -> now), 4, () -> order.append('|'));
        assertEquals("baabba|abbaabba", order.toString());
        assertTrue(taken.settled());
    }

    @Test
    void warmUpsDoNotCount() {
        List<Turns.Side<RuntimeException>> sides =
                List.of(side('a', turn -> turn < 0 ? 100 : turn), side('b', turn -> 7));
        Turns taken = Turns.take(sides, new TurnWarmUp(2, 0, 1000, () -> now), 5, () -> {});
        // A sixth turn counts, so that each is the first as often.
        assertEquals(new Quartiles(1.25, 2.5, 3.75), taken.of(0).quartiles());
        assertEquals(0, taken.of(0).least());
        assertEquals(5, taken.of(0).most());
        assertEquals(7, taken.of(1).median());
    }

    @Test
    void aSideThatDoesNotSettleIsMeasuredAndTheRowSaysSo() {
        List<Turns.Side<RuntimeException>> sides = List.of(side('a', turn -> turn * turn), side('b', turn -> 1));
        Turns taken = Turns.take(sides, new TurnWarmUp(2, 0, 100, () -> now), 1, () -> order.append('|'));
        // A turn of both sides takes 20, so the limit ends the warm-up after five of them.
        assertEquals("baabbaabba|ab", order.toString());
        assertFalse(taken.settled());
        assertFalse(taken.settled(0));
        assertTrue(taken.settled(1));
    }

    @Test
    void theTurnsOfAWarmUpHaveALimit() {
        List<Turns.Side<RuntimeException>> sides = List.of(side('a', turn -> turn * turn), side('b', turn -> 1));
        Turns taken = Turns.take(sides, TurnWarmUp.untimed(2), 3, 1, () -> order.append('|'));
        assertEquals("baabba|ab", order.toString());
        assertFalse(taken.settled());
    }
}
