package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class ExpertWeightsTest {

    private static final double CLOSE = 1e-12;

    @Test
    void sumToOneAndStandOnTheFloorWhateverIsRegretted() {
        SplittableRandom random = new SplittableRandom(3);
        for (int experts = 1; experts <= ExpertWeights.MOST_EXPERTS; experts++) {
            ExpertWeights weights = new ExpertWeights(experts);
            for (int i = 0; i < 20_000; i++) {
                // Successive regrets of the same experts drive their weights to the floor.
                long named = new SplittableRandom(i / 500).nextLong(1L << experts);
                weights.regret(named, random.nextDouble());
                check(weights);
            }
        }
    }

    private static void check(ExpertWeights weights) {
        double sum = 0;
        for (int expert = 0; expert < weights.experts(); expert++) {
            assertTrue(weights.weight(expert) >= ExpertWeights.FLOOR - CLOSE, "weight " + weights.weight(expert));
            sum += weights.weight(expert);
        }
        assertEquals(1, sum, CLOSE);
    }

    @Test
    void aRegretTakesWhatThePaperSays() {
        ExpertWeights weights = new ExpertWeights(2);
        double discount = ExpertWeights.discount(1000);
        assertEquals(0.005, Math.pow(discount, 1000), CLOSE);
        double penalty = ExpertWeights.penalty(discount, 500);
        weights.regret(0b01, penalty);
        double factor = Math.exp(-0.1 * Math.pow(0.005, 0.5));
        assertEquals(factor / (factor + 1), weights.weight(0), CLOSE);
        assertEquals(1, ExpertWeights.penalty(discount, -3), "an entry from the future is the newest");
    }

    @Test
    void regretsOfAllOrOfNoneChangeNothing() {
        ExpertWeights weights = new ExpertWeights(3);
        weights.regret(0b010, 1);
        double before = weights.weight(1);
        weights.regret(0b111, 1);
        weights.regret(0, 1);
        assertEquals(before, weights.weight(1), CLOSE);
    }

    @Test
    void anExpertOnTheFloorComesBack() {
        ExpertWeights weights = new ExpertWeights(2);
        for (int i = 0; i < 1000; i++) {
            weights.regret(0b01, 1);
        }
        assertEquals(ExpertWeights.FLOOR, weights.weight(0), CLOSE);
        for (int i = 0; i < 100; i++) {
            weights.regret(0b10, 1);
        }
        assertTrue(weights.weight(0) > 0.9, "weight " + weights.weight(0));
    }

    @Test
    void expertsAreDrawnByTheirWeights() {
        ExpertWeights weights = new ExpertWeights(3);
        for (int i = 0; i < 8; i++) {
            weights.regret(0b011, 0.5);
            weights.regret(0b001, 1);
        }
        SplittableRandom random = new SplittableRandom(4);
        int draws = 100_000;
        int[] drawn = new int[3];
        for (int i = 0; i < draws; i++) {
            drawn[weights.draw(random)]++;
        }
        for (int expert = 0; expert < 3; expert++) {
            assertEquals(weights.weight(expert), (double) drawn[expert] / draws, 0.01);
        }
        assertEquals(weights.weight(0) + weights.weight(2), weights.weight(0b101L), CLOSE);
    }

    @Test
    void countsOfExpertsAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> new ExpertWeights(0));
        assertThrows(IllegalArgumentException.class, () -> new ExpertWeights(ExpertWeights.MOST_EXPERTS + 1));
    }
}
