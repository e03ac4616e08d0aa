package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When sides have warmed up, by a clock that the test sets. */
class TurnWarmUpTest {

    private static final long LEAST = 100;
    private static final long MOST = 1000;

    private long now;

    private TurnWarmUp warmUp(int sides) {
        return new TurnWarmUp(sides, LEAST, MOST, () -> now);
    }

    private static void add(TurnWarmUp warmUp, int side, double... figures) {
        for (double figure : figures) {
            warmUp.add(side, figure);
        }
    }

    @Test
    void itEndsIfTheLastThreeTurnsAgree() {
        TurnWarmUp warmUp = warmUp(1);
        now = LEAST;
        add(warmUp, 0, 50, 100, 104);
        assertTrue(warmUp.more());
        assertFalse(warmUp.settled());
        add(warmUp, 0, 102);
        assertTrue(warmUp.settled());
        assertFalse(warmUp.more());
    }

    @Test
    void turnsThatDifferByMoreThanFivePercentDoNotAgree() {
        TurnWarmUp warmUp = warmUp(1);
        now = LEAST;
        add(warmUp, 0, 100, 106, 100);
        assertTrue(warmUp.more());
    }

    @Test
    void twoTurnsAreTooFew() {
        TurnWarmUp warmUp = warmUp(1);
        now = LEAST;
        add(warmUp, 0, 100, 100);
        assertTrue(warmUp.more());
    }

    @Test
    void turnsOfInterpretedCodeMayAgreeSoALeastTimePasses() {
        TurnWarmUp warmUp = warmUp(1);
        add(warmUp, 0, 100, 100, 100);
        now = LEAST - 1;
        assertTrue(warmUp.more());
        now = LEAST;
        assertFalse(warmUp.more());
    }

    @Test
    void eachSideSettles() {
        TurnWarmUp warmUp = warmUp(2);
        now = LEAST;
        add(warmUp, 0, 100, 100, 100);
        add(warmUp, 1, 7, 9, 11);
        assertFalse(warmUp.settled());
        add(warmUp, 1, 11, 11);
        assertTrue(warmUp.settled());
    }

    @Test
    void itEndsAtItsLimitAndHasNotSettled() {
        TurnWarmUp warmUp = warmUp(1);
        add(warmUp, 0, 1, 2, 3);
        now = MOST - 1;
        assertTrue(warmUp.more());
        now = MOST;
        assertFalse(warmUp.more());
        assertFalse(warmUp.settled());
    }

    @Test
    void noFigureAgreesWithNothing() {
        TurnWarmUp warmUp = warmUp(1);
        add(warmUp, 0, 0, 0, 0);
        assertFalse(warmUp.settled());
        add(warmUp, 0, Double.NaN, Double.NaN, Double.NaN);
        assertFalse(warmUp.settled());
    }
}
