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

    /** Parts of three and of four servers; 71 groups, and one of the six servers that are left. */
    @Test
    void theFormulaKnowsPartsOfUnequalSize() {
        PlacementOptions options = new PlacementOptions(1_000, 2, 1, 1, 1, 1, SEED);
        PlacementRow row = simulated(options, PlacementScheme.CODING_SETS, 12);
        assertEquals(0.1095, row.lossFormula(), 0.0001);
        assertEquals(DataLossFormula.groups(Map.of(3, 144, 4, 142), 1_000, 10, 1), row.lossExact(), 1e-12);
        assertEquals(0.1106, row.lossExact(), 0.0001);
        assertEquals(0, row.leftOver());
    }

    private static PlacementRow lost(double exact, int trials, int losses, double covered) {
        PlacementOptions options = new PlacementOptions(1_000, 16, 8, 2, 1, trials, SEED);
        return new PlacementRow(
                PlacementScheme.CODING_SETS, options, 0, exact, exact, losses, trials, covered, 1, 0, null);
    }

    /** Few losses are not normally distributed. */
    @Test
    void aRowIsJudgedByItsBinomialDistribution() {
        assertEquals(0.00935, lost(0.000264, 1_250, 3, 1).chance(), 0.00001);
        assertFalse(lost(0.000264, 1_250, 3, 1).deviates(), "three standard errors are exceeded in 0.47% of all cases");
        assertTrue(lost(0.000264, 1_250, 4, 1).deviates());
        assertEquals(0.00066, lost(0.004, 2_000, 0, 1).chance(), 0.00001);
        assertTrue(lost(0.004, 2_000, 0, 1).deviates(), "no loss of eight is within three standard errors");
        assertTrue(lost(0.01, 2_000, 2, 1).deviates());
        assertEquals(1, lost(0.01, 1_000, 10, 1).chance(), 0.001);
        assertEquals(1, lost(0, 100, 0, 1).chance());
        assertTrue(lost(0, 100, 1, 1).deviates());
        assertEquals(1, lost(1, 100, 100, 1).chance());
        assertTrue(lost(1, 100, 99, 1).deviates());
    }

    @Test
    void aRowSaysWhatItsTrialsShow() {
        assertNull(lost(0.01, 1_000, 10, 1).remark());
        assertTrue(lost(0.01, 2_000, 2, 1).remark().startsWith("missed"), "all sets have a range");
        assertTrue(lost(0.01, 2_000, 2, 0.666).remark().contains("66% of the sets"));
        assertTrue(lost(0.01, 2_000, 60, 0.666).remark().startsWith("missed"), "more losses than can be");
        assertEquals(
                "too few trials: no loss at all would be no surprise; take at least 25026",
                lost(0.000264, 1_250, 0, 1).remark());
        assertNull(lost(0, 100, 0, 1).remark());
    }

    /** With 4+2 and l = 4 equally loaded servers are taken in the order of their places. */
    @Test
    void setsOfServersWithoutARangeAreSeen() {
        PlacementOptions many = new PlacementOptions(200, 16, 8, 2, 1, 1, SEED);
        assertEquals(1, simulated(many, PlacementScheme.CODING_SETS, 0).covered());
        assertEquals(1, simulated(many, PlacementScheme.RANDOM, 0).covered());
        PlacementOptions few = new PlacementOptions(200, 16, 4, 2, 1, 1, SEED);
        double covered = simulated(few, PlacementScheme.CODING_SETS, 4).covered();
        assertTrue(covered > 0.5 && covered < 0.8, "two thirds of the sets: " + covered);
    }

    /** Hydra's figure 16, small, and the emptier of two groups, which are not in the paper. */
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
        PlacementOptions large = new PlacementOptions(200_000, 1, 1, 1, 1, 1, 1);
        assertThrows(
                IllegalArgumentException.class,
                () -> new PlacementSimulation(large, PlacementScheme.CODING_SETS, 99_998),
                "a group of 100,000 servers");
    }
}
