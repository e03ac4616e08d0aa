package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Clusters that fail far more often than real ones, so that losses can be counted; a seed makes the figures exact. */
class FailureSimulationTest {

    private static final PlacementOptions CLUSTER = new PlacementOptions(48, 6, 2, 1, 0, 1, 9);
    private static final double NEVER = Double.POSITIVE_INFINITY;

    private static FailureOptions failing(double lifeDays, double rackLifeDays, int repairs, int cacheRanges) {
        return new FailureOptions(6, false, lifeDays, rackLifeDays, 864, repairs, cacheRanges, 10, 1);
    }

    private static FailureRow simulated(FailureOptions failing, PlacementScheme scheme) {
        return new FailureSimulation(CLUSTER, failing, scheme, 1).run();
    }

    /** A server lives for a day, and a slab is made again in a hundredth of a day. */
    @Test
    void rangesAreLostAsOftenAsTheChainSays() {
        for (PlacementScheme scheme : PlacementScheme.values()) {
            FailureRow row = simulated(failing(1, NEVER, 1, 1), scheme);
            assertEquals(96 * 365 / 17.5, row.chainRanges(), 1e-9, "96 ranges that live for 17.5 days");
            assertTrue(row.rangesLost() > 1_000, row::text);
            assertTrue(Math.abs(row.rangesLost() - row.chainRanges()) < 3 * row.rangesLostError(), row::text);
            assertTrue(row.repaired() > 10_000, row::text);
        }
    }

    /** As many ranges are lost in groups as of random servers, but more at a time (Hydra, section 5, tradeoff). */
    @Test
    void groupsLoseDataLessOften() {
        FailureRow random = simulated(failing(1, NEVER, 1, 1), PlacementScheme.RANDOM);
        FailureRow groups =
                new FailureSimulation(CLUSTER, failing(1, NEVER, 1, 1), PlacementScheme.CODING_SETS, 0).run();
        assertTrue(groups.lossEvents() < 0.8 * random.lossEvents(), groups.text() + "\n" + random.text());
        assertEquals(0, random.outside());
        assertTrue(groups.outside() > 0, "without a spare server, a lost slab goes outside its group");
        assertTrue(groups.cameBack() > groups.outside() / 2, groups::toString);
    }

    /** All ranges are one cache's, so a dead server's slabs wait for each other. */
    @Test
    void severalRepairsAtATimeLoseLess() {
        FailureRow one = simulated(failing(1, NEVER, 1, 96), PlacementScheme.CODING_SETS);
        FailureRow four = simulated(failing(1, NEVER, 4, 96), PlacementScheme.CODING_SETS);
        assertTrue(four.rangesLost() < 0.7 * one.rangesLost(), one.text() + "\n" + four.text());
    }

    @Test
    void racksAsDomainsOutliveRacksThatFail() {
        FailureOptions failing = failing(1_000, 20, 1, 1);
        FailureRow servers = simulated(failing, PlacementScheme.RANDOM);
        FailureRow racks = simulated(failing.withRackDomains(true), PlacementScheme.RANDOM);
        assertTrue(servers.lossEvents() > 100, servers::text);
        assertTrue(racks.lossEvents() * 10 < servers.lossEvents(), racks::text);
        assertTrue(racks.lossInAYear() <= 1 && servers.lossInAYear() > 0.99, servers::text);
    }

    @Test
    void theSameSeedGivesTheSameRow() {
        FailureOptions failing = failing(3, 20, 2, 8).withRackDomains(true);
        assertEquals(
                simulated(failing, PlacementScheme.EMPTIER_GROUP), simulated(failing, PlacementScheme.EMPTIER_GROUP));
    }

    @Test
    void aChainHasItsClosedForm() {
        assertEquals(1 / 3.0, new BirthDeathChain(3, 0, 1, 100, 1).meanTimeToLoss(), 1e-12);
        assertEquals(17.5, new BirthDeathChain(3, 1, 1, 100, 1).meanTimeToLoss(), 1e-12);
        // With two missing, two at a time: 1/4 + (1 + 10/4)/3 + (1 + 20 (1 + 10/4)/3)/2.
        double second = (1 + 10 / 4.0) / 3;
        assertEquals(
                1 / 4.0 + second + (1 + 20 * second) / 2, new BirthDeathChain(4, 2, 1, 10, 2).meanTimeToLoss(), 1e-12);
        assertEquals(1 - Math.exp(-2), new BirthDeathChain(3, 1, 1, 100, 1).probability(5, 7), 1e-12);
    }

    @Test
    void tableFiveIsItsFormula() {
        assertEquals(9, MemorySavings.TABLE.size());
        for (MemorySavings savings : MemorySavings.TABLE) {
            assertEquals(savings.paper(), savings.percent(), 0.05, savings::toString);
        }
    }

    @Test
    void whatCannotBeSimulatedIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> failing(0, NEVER, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> failing(NEVER, NEVER, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> failing(1, -1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> failing(1, NEVER, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> failing(1, NEVER, 1, 0));
        FailureOptions racks = new FailureOptions(24, true, 1, NEVER, 864, 1, 1, 10, 1);
        assertThrows(
                IllegalArgumentException.class,
                () -> new FailureSimulation(CLUSTER, racks, PlacementScheme.RANDOM, 0),
                "two racks for three slabs");
    }
}
