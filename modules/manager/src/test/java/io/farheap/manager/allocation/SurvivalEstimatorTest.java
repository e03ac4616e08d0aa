package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class SurvivalEstimatorTest {

    @Test
    void aFewMachinesSayNothing() {
        SurvivalEstimator life = new SurvivalEstimator(4);
        for (int i = 0; i < 9; i++) {
            life.add(100, true);
        }
        assertEquals(4, life.mean());
        assertEquals(Math.exp(-1), life.beyond(4), 1e-12);
        assertEquals(1 - Math.exp(-0.5), life.endsWithin(7, 2), 1e-12);
    }

    @Test
    void theCurveIsThatOfKaplanAndMeier() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        // Ten end at 1 h, ten others are observed only until 2 h, five end at 3 h, and five still run at 4 h.
        times(10, life, 1, true);
        times(10, life, 2, false);
        times(5, life, 3, true);
        times(5, life, 4, false);
        assertEquals(1, life.beyond(0.9));
        assertEquals(20 / 30.0, life.beyond(1), 1e-12);
        assertEquals(20 / 30.0, life.beyond(2.9), 1e-12);
        assertEquals(20 / 30.0 / 2, life.beyond(3), 1e-12);
        assertEquals(1 + 2 * 20 / 30.0 + 10 / 30.0, life.mean(), 1e-12);
        assertEquals(0.5, life.endsWithin(2, 1), 1e-12);
        assertEquals(0, life.endsWithin(3, 1), 1e-12);
    }

    private static void times(int count, SurvivalEstimator life, double hours, boolean ended) {
        for (int i = 0; i < count; i++) {
            life.add(hours, ended);
        }
    }

    @Test
    void machinesThatAllEndAtOnceHaveAMeanThatOneCanDivideBy() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        times(20, life, 0, true);
        assertEquals(0, life.beyond(0));
        assertEquals(0, life.endsWithin(0, 1));
        assertTrue(life.mean() > 0);
    }

    /** Machines that are older than all that have ended are no proof that they end at once. */
    @Test
    void beyondTheLastEndNothingIsClaimed() {
        SurvivalEstimator life = new SurvivalEstimator(1);
        times(20, life, 5, true);
        assertEquals(1, life.endsWithin(4.9, 0.2));
        assertEquals(0, life.endsWithin(6, 1));
    }

    @Test
    void whatWasSeenLastCountsMostAndItStaysSmall() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        SurvivalEstimator life = new SurvivalEstimator(1);
        for (int i = 0; i < 5_000; i++) {
            life.add(1 + random.nextDouble(), true);
        }
        assertEquals(1.5, life.mean(), 0.1, "seed " + seed);
        for (int i = 0; i < 5_000; i++) {
            life.add(10 + random.nextDouble(), true);
        }
        assertEquals(10.5, life.mean(), 0.3, "seed " + seed);
    }

    @Test
    void anotherGoesOnWithWhatOneHasSeen() {
        SurvivalEstimator one = new SurvivalEstimator(5);
        for (int i = 1; i <= 20; i++) {
            one.add(i, i % 3 != 0);
        }
        SurvivalEstimator other = new SurvivalEstimator(50);
        other.add(100, true);
        other.load(one.seen());
        assertEquals(one.seen(), other.seen());
        assertEquals(one.mean(), other.mean());
        one.add(21, true);
        other.add(21, true);
        for (int hours = 0; hours < 25; hours++) {
            assertEquals(one.beyond(hours), other.beyond(hours), "after " + hours + " h");
        }
    }
}
