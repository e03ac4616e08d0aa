package io.farheap.bench.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.resilience.contract.Resilience;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The probability that servers which end at the same time lose data, computed and counted. */
class LossProbabilityTest {

    /** 4 of the 20 choices of 3 servers contain both that end; a copy on one server is lost if that server ends. */
    @Test
    void whatCanBeCountedIsRight() {
        assertEquals(4 / 20.0, LossProbability.ofGroup(6, 2, 3, 1), 1e-12);
        assertEquals(2 / 6.0, LossProbability.ofGroup(6, 2, 1, 0), 1e-12);
        assertEquals(0, LossProbability.ofGroup(6, 2, 3, 2));
        assertEquals(1, LossProbability.ofGroup(6, 6, 3, 2), 1e-12);
        assertEquals(0, LossProbability.ofGroup(6, 0, 3, 0));
    }

    /** The result differs by at most five standard deviations from a count of 100,000 random groups. */
    @Test
    void itIsWhatDrawnGroupsShow() {
        int servers = 50;
        int dead = 10;
        int draws = 100_000;
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int size : new int[] {1, 2, 5, 10}) {
            int lost = 0;
            for (int draw = 0; draw < draws; draw++) {
                lost += deadOf(random, servers, dead, size) > size / 4 ? 1 : 0;
            }
            double computed = LossProbability.ofGroup(servers, dead, size, size / 4);
            double deviation = Math.sqrt(computed * (1 - computed) / draws);
            assertEquals(computed, (double) lost / draws, 5 * deviation, size + " servers, seed " + seed);
        }
    }

    /** The number of servers of a random group that are among the first {@code dead}, which end. */
    private static int deadOf(SplittableRandom random, int servers, int dead, int size) {
        BitSet group = new BitSet();
        while (group.cardinality() < size) {
            group.set(random.nextInt(servers));
        }
        return group.get(0, dead).cardinality();
    }

    /** The client's own disk has each page, and only memory servers die. */
    @Test
    void aBackupOnTheClientsDiskIsNotLostWithServers(@TempDir Path directory) {
        Resilience coded = Resilience.failureRecovery(8, 2);
        MemoryKind backup = MemoryKind.baseline(MemoryKind.SSD_BACKUP, coded, directory);
        assertEquals(0, LossProbability.of(backup));
        MemoryKind copies = MemoryKind.baseline(MemoryKind.TWO_COPIES, coded, directory);
        assertEquals(LossProbability.of(copies.layout()), LossProbability.of(copies));
        assertEquals(1, LossProbability.of(MemoryKind.baseline(MemoryKind.ONE_COPY, coded, directory)), 1e-9);
    }

    @Test
    void inThePapersClusterMoreParityLosesLess() {
        double oneCopy = LossProbability.of(PageLayout.copies(1, 4096));
        double twoCopies = LossProbability.of(PageLayout.copies(2, 4096));
        double threeCopies = LossProbability.of(PageLayout.copies(3, 4096));
        double coded = LossProbability.of(PageLayout.of(Resilience.failureRecovery(8, 2)));
        double moreParity = LossProbability.of(PageLayout.of(Resilience.failureRecovery(8, 3)));
        assertEquals(1, oneCopy, 1e-9);
        assertTrue(twoCopies > coded, twoCopies + " and " + coded);
        assertTrue(coded > moreParity, coded + " and " + moreParity);
        assertTrue(threeCopies > 0 && threeCopies < 0.01, () -> Double.toString(threeCopies));
    }
}
