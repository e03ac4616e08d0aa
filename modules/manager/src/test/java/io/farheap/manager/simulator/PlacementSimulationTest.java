package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Small clusters, whose exact probabilities are known; a seed makes the figures exact. */
class PlacementSimulationTest {

    private static final long SEED = 5;
    private static final int TRIALS = Effort.either(1_500, 20_000);

    private static PlacementRow simulated(PlacementOptions options, PlacementScheme scheme, int spare) {
        return new PlacementSimulation(options, scheme, spare).run();
    }

    private static void isExact(PlacementRow row) {
        assertTrue(row.lossExact() > 0.02 && row.lossExact() < 0.98, row::text);
        assertFalse(row.deviates(), row::text);
    }

    @Test
    void lossesAreThoseOfTheExactCount() {
        PlacementOptions options = new PlacementOptions(62, 8, 2, 1, 5, TRIALS, SEED);
        assertEquals(3, options.failed());
        isExact(simulated(options, PlacementScheme.RANDOM, 0));
        isExact(simulated(options, PlacementScheme.CODING_SETS, 0));
        PlacementRow row = simulated(options, PlacementScheme.CODING_SETS, 1);
        isExact(row);
        assertEquals(2, row.leftOver(), "62 is no multiple of 4");
        isExact(simulated(options, PlacementScheme.EMPTIER_GROUP, 2));
    }

    @Test
    void copiesUsePartsOfGroups() {
        PlacementOptions options = new PlacementOptions(60, 12, 1, 1, 5, TRIALS, SEED);
        PlacementRow parts = simulated(options, PlacementScheme.CODING_SETS, 10);
        isExact(parts);
        double whole = DataLossFormula.groups(Map.of(12, 5), 60, 3, 1);
        assertTrue(parts.lossExact() < whole / 3, parts.lossExact() + " of " + whole);
    }

    /** Hydra's figure 16, small, and the emptier of two groups, which the paper has not. */
    @Test
    void groupsBalanceBetterThanRandomServersAndTwoGroupsBest() {
        PlacementOptions options = new PlacementOptions(3_000, 16, 8, 2, 1, 1, SEED);
        double random = simulated(options, PlacementScheme.RANDOM, 0).imbalance();
        double none = simulated(options, PlacementScheme.CODING_SETS, 0).imbalance();
        double two = simulated(options, PlacementScheme.CODING_SETS, 2).imbalance();
        double choices = simulated(options, PlacementScheme.TWO_CHOICES, 0).imbalance();
        double emptier = simulated(options, PlacementScheme.EMPTIER_GROUP, 2).imbalance();
        String all = random + ", " + none + ", " + two + ", " + choices + ", " + emptier;
        assertTrue(none < random && two < random, all);
        assertTrue(choices < Math.min(none, two) && emptier < Math.min(none, two), all);
        assertTrue(emptier <= 1.2 && choices <= 1.25, all);
    }

    @Test
    void theSameSeedGivesTheSameRow() {
        PlacementOptions options = new PlacementOptions(100, 4, 2, 1, 4, 50, SEED);
        for (PlacementScheme scheme : PlacementScheme.values()) {
            assertEquals(simulated(options, scheme, 1), simulated(options, scheme, 1));
        }
    }

    @Test
    void thePaperIsQuotedBesideItsOwnClusters() {
        PlacementOptions paper = new PlacementOptions(1_000, 16, 8, 2, 1, 1, SEED);
        assertTrue(simulated(paper, PlacementScheme.CODING_SETS, 2).paper().contains("order of magnitude"));
        assertNull(simulated(paper, PlacementScheme.CODING_SETS, 4).paper());
        assertNull(simulated(paper, PlacementScheme.RANDOM, 0).paper());
    }

    @Test
    void whatCannotBeSimulatedIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000, 16, 0, 2, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000, 16, 8, 0, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(19, 16, 8, 2, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000_001, 16, 8, 2, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000_000, 101, 8, 2, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000, 0, 8, 2, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000, 16, 8, 2, 101, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000, 16, 8, 2, Double.NaN, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new PlacementOptions(1_000, 16, 8, 2, 1, 0, 1));
        PlacementOptions options = new PlacementOptions(100, 16, 8, 2, 1, 1, 1);
        assertThrows(
                IllegalArgumentException.class,
                () -> new PlacementSimulation(options, PlacementScheme.CODING_SETS, 91));
        assertThrows(
                IllegalArgumentException.class,
                () -> new PlacementSimulation(options, PlacementScheme.EMPTIER_GROUP, -1));
    }
}
