package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DataLossFormulaTest {

    private static final int SERVERS = 1_000;
    private static final int FAILED = 10;

    private static double formulaOfRandom(int r, int slabs) {
        return 100 * DataLossFormula.paper(SERVERS, FAILED, r, 8 + r, (double) SERVERS * slabs / (8 + r));
    }

    private static double formulaOfGroups(int r, int size) {
        return 100 * DataLossFormula.paper(SERVERS, FAILED, r, size, (double) SERVERS / size);
    }

    private static double exactOfRandom(int r, int slabs) {
        return 100 * DataLossFormula.random(SERVERS, FAILED, 8, r, (long) SERVERS * slabs / (8 + r));
    }

    private static double exactOfGroups(int r, Map<Integer, Integer> sizes) {
        return 100 * DataLossFormula.groups(sizes, SERVERS, FAILED, r);
    }

    /** Hydra's figure 15, in percent: k = 8, r = 2, S = 16, l = 2, 1% of 1,000 servers, and one of these changed. */
    @Test
    void thePapersCluster() {
        assertEquals(12.95, formulaOfRandom(2, 16), 0.005);
        assertEquals(12.51, exactOfRandom(2, 16), 0.005);
        assertEquals(1.315, formulaOfGroups(2, 12), 0.0005);
        assertEquals(1.255, exactOfGroups(2, Map.of(12, 83)), 0.0005, "four servers are left over");
        assertEquals(1.273, exactOfGroups(2, Map.of(12, 79, 13, 4)), 0.0005, "four groups have one more");
        assertEquals(0.863, formulaOfGroups(2, 10), 0.0005);
        assertEquals(0.834, exactOfGroups(2, Map.of(10, 100)), 0.0005);
        assertEquals(1.860, formulaOfGroups(2, 14), 0.0005);
        assertEquals(1.756, exactOfGroups(2, Map.of(14, 71)), 0.0005);
        assertEquals(58.1, formulaOfRandom(2, 100), 0.05);
        assertEquals(56.6, exactOfRandom(2, 100), 0.05);
        assertEquals(0.243, formulaOfRandom(3, 16), 0.0005);
        assertEquals(0.235, exactOfRandom(3, 16), 0.0005);
        assertEquals(0.0279, formulaOfGroups(3, 13), 0.00005);
        assertEquals(0.0264, exactOfGroups(3, Map.of(13, 76)), 0.00005);
    }

    /** With r = 1 the formula is too low, and not too high. */
    @Test
    void theFormulaMayBeTooLow() {
        assertEquals(36.41, formulaOfGroups(1, 11), 0.005);
        assertEquals(37.06, exactOfGroups(1, Map.of(11, 90)), 0.005);
    }

    /** Two copies in all of a group of twelve are lost nearly as often as random ones; in parts of three seldom. */
    @Test
    void partsOfAGroupSaveSmallCodes() {
        assertEquals(51.36, 100 * DataLossFormula.random(SERVERS, FAILED, 1, 1, 8_000), 0.005);
        assertEquals(40.2, 100 * DataLossFormula.groups(Map.of(12, 83), SERVERS, FAILED, 1), 0.05);
        assertEquals(8.68, 100 * DataLossFormula.groups(Map.of(3, 332), SERVERS, FAILED, 1), 0.005);
    }

    /** Counts all sets of dead servers of a small cluster. */
    private static double counted(List<Integer> sizes, int servers, int failed, int r) {
        int all = 0;
        int lost = 0;
        for (int set = 0; set < 1 << servers; set++) {
            if (Integer.bitCount(set) == failed) {
                all++;
                int first = 0;
                boolean loses = false;
                for (int size : sizes) {
                    loses |= Integer.bitCount(set >> first & (1 << size) - 1) > r;
                    first += size;
                }
                lost += loses ? 1 : 0;
            }
        }
        return (double) lost / all;
    }

    @Test
    void theExactCountIsThatOfAllSets() {
        for (int failed = 0; failed <= 14; failed++) {
            for (int r = 1; r <= 3; r++) {
                assertEquals(
                        counted(List.of(4, 4, 3), 14, failed, r),
                        DataLossFormula.groups(Map.of(4, 2, 3, 1), 14, failed, r),
                        1e-12,
                        failed + " fail, r = " + r);
                assertEquals(
                        counted(List.of(5), 14, failed, r),
                        DataLossFormula.random(14, failed, 5 - r, r, 1),
                        1e-12,
                        "one random range is one group of five");
            }
        }
    }

    @Test
    void noLossAndCertainLoss() {
        assertEquals(0, DataLossFormula.paper(1_000, 2, 2, 12, 83));
        assertEquals(0, DataLossFormula.random(1_000, 2, 8, 2, 1_600), 1e-15);
        assertEquals(0, DataLossFormula.groups(Map.of(12, 83), 1_000, 2, 2));
        assertEquals(1, DataLossFormula.groups(Map.of(12, 83), 1_000, 1_000, 2));
        assertEquals(1, DataLossFormula.random(1_000, 1_000, 8, 2, 1_600), 1e-12);
        assertEquals(1, DataLossFormula.paper(1_000, 500, 2, 10, 1e9));
        assertEquals(1, DataLossFormula.groups(Map.of(12, 83), 1_000, 900, 2), 1e-12);
    }

    /** A large cluster has numbers that a double does not hold. */
    @Test
    void aLargeClusterLosesNearlyAlways() {
        double some = DataLossFormula.groups(Map.of(12, 8_333), 100_000, 1_000, 2);
        double formula = DataLossFormula.paper(100_000, 1_000, 2, 12, 100_000 / 12.0);
        assertTrue(some > 0.7 && some < formula && formula < some + 0.1, some + " and " + formula);
        assertEquals(1, DataLossFormula.groups(Map.of(12, 83_333), 1_000_000, 10_000, 2), 1e-5);
    }
}
