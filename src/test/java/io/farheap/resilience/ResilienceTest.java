package io.farheap.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.contract.Resilience.Mode;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The guarantees of a resilience (Hydra, table 1), and its messages for values that do not fit. */
class ResilienceTest {

    private static String refused(Executable call) {
        return assertThrows(IllegalArgumentException.class, call).getMessage();
    }

    @Test
    void writesWaitForAsManySplitsAsTheTableSays() {
        assertEquals(10, Resilience.failureRecovery(8, 2).writeWaitsFor());
        assertEquals(9, Resilience.corruptionDetection(8, 2).writeWaitsFor());
        assertEquals(11, Resilience.corruptionCorrection(8, 4).writeWaitsFor());
        assertEquals(8, Resilience.ecOnly(8, 2).writeWaitsFor());
        assertEquals(2, Resilience.copies(2).writeWaitsFor());
    }

    @Test
    void readsAskAsManySplitsAsTheTableSays() {
        assertEquals(9, Resilience.failureRecovery(8, 2).readAsks());
        assertEquals(10, Resilience.failureRecovery(8, 2).additional(2).readAsks());
        assertEquals(9, Resilience.corruptionDetection(8, 2).readAsks());
        assertEquals(9, Resilience.corruptionCorrection(8, 3).readAsks());
        assertEquals(8, Resilience.ecOnly(8, 2).readAsks());
        assertEquals(1, Resilience.copies(3).readAsks());
    }

    @Test
    void memoryIsWhatTheSlabsTake() {
        assertEquals(1.25, Resilience.failureRecovery(8, 2).memoryOverhead());
        assertEquals(1.375, Resilience.corruptionCorrection(8, 3).memoryOverhead());
        assertEquals(3, Resilience.copies(3).memoryOverhead());
    }

    @Test
    void aPageThatIsNotNamedFitsTheCode() {
        assertEquals(4096, Resilience.failureRecovery(8, 2).pageBytes());
        assertEquals(4224, Resilience.failureRecovery(3, 2).pageBytes());
    }

    @Test
    void whatDoesNotFitIsRefusedWithTheRemedy() {
        assertEquals("k = 17 data splits; take 1 to 16", refused(() -> Resilience.failureRecovery(17, 2)));
        assertEquals("k = 0 data splits; take 1 to 16", refused(() -> Resilience.failureRecovery(0, 2)));
        assertEquals("r = 5 parity splits; take 0 to 4", refused(() -> Resilience.failureRecovery(8, 5)));
        assertEquals("Δ = 3 additional splits with r = 2; take 0 to 2", refused(() -> Resilience.failureRecovery(8, 2)
                .additional(3)));
        assertEquals(
                "Δ = 0 in mode corruption-detection, which shows Δ corrupt splits; take Δ and r of at least 1",
                refused(() -> Resilience.corruptionDetection(8, 2).additional(0)));
        assertEquals(
                "r = 2 parity splits do not correct Δ = 1; take r of at least 2Δ + 1 = 3",
                refused(() -> Resilience.corruptionCorrection(8, 2)));
        assertEquals(
                "r = 4 parity splits do not correct Δ = 2; take a Δ of 1, and r of at least 3",
                refused(() -> Resilience.corruptionCorrection(8, 4).additional(2)));
        assertEquals("6 copies; take 1 to 5", refused(() -> Resilience.copies(6)));
    }

    @Test
    void aPageThatIsNotCutIsRefusedWithTheNearest() {
        assertEquals(
                "a page of 4096 bytes, which k = 3 does not cut into multiples of 64 bytes; take 4032 or 4224 bytes",
                refused(() -> Resilience.failureRecovery(3, 2).pageBytes(4096)));
        assertTrue(
                refused(() -> Resilience.failureRecovery(8, 2).pageBytes(100)).endsWith("take 512 bytes"));
        assertTrue(refused(() -> Resilience.failureRecovery(8, 2).pageBytes(-5)).endsWith("take 512 bytes"));
        assertTrue(refused(() -> Resilience.failureRecovery(8, 2).pageBytes(Integer.MAX_VALUE))
                .endsWith("take 1048576 bytes"));
    }

    @Test
    void timesAndLimitsAreRefusedWithTheirs() {
        Resilience some = Resilience.failureRecovery(8, 2);
        assertEquals("a timeout of 0.0 ms; take 1 ms to 60 s", refused(() -> some.timeout(Duration.ZERO)));
        assertTrue(
                refused(() -> some.timeout(Duration.ofSeconds(Long.MAX_VALUE))).endsWith("; take 1 ms to 60 s"));
        assertTrue(refused(() -> some.limits(0, 1)).contains("errorCorrectionLimit of 0.0"));
        assertTrue(refused(() -> some.limits(0.5, 0.1)).contains("slabRegenerationLimit of 0.1"));
    }

    @Test
    void aSpaceSaysHowManyDomainsThereAre() {
        try (CodedServers servers = new CodedServers(6, 2)) {
            Resilience resilience = Resilience.failureRecovery(4, 2);
            String tooFew = refused(() -> CodedSpace.create(
                    servers.memory, resilience, 4096, server -> server.index() < 3 ? "rack 1" : "rack 2"));
            assertEquals(
                    "k + r = 6 slabs need as many failure domains with room, and there are 2 (domains: 2, servers: 6);"
                            + " add servers of other domains, or take a smaller k + r or capacity",
                    tooFew);
            String full = refused(() -> servers.space(resilience, 12 * CodedServers.REGION_BYTES));
            assertTrue(full.contains("there are 0 for range 3 of 3"), full);
            for (int i = 0; i < 6; i++) {
                int server = i;
                CodedServers.await("a refused create takes nothing", () -> servers.freeRegions(server) == 2);
            }
            assertTrue(refused(() -> servers.space(resilience.pageBytes(512 << 10), 4096))
                    .contains("take pages of at most"));
            assertEquals("a space of 0 bytes; it has at least 1", refused(() -> servers.space(resilience, 0)));
        }
    }

    @Test
    void largeSlabsDoNotOverflow() {
        Resilience resilience = Resilience.failureRecovery(8, 2);
        assertEquals(1, CodedSpace.ranges(1, 8L << 30, resilience));
        assertEquals(1, CodedSpace.ranges(8L << 30, 8L << 30, resilience));
        assertEquals(129, CodedSpace.ranges((1L << 40) + 1, 8L << 30, resilience));
        assertEquals(
                "a space of 9223372036854775807 bytes has 2251799813685248 ranges of 4096; it has at most 214748364,"
                        + " take larger regions or a smaller capacity",
                refused(() -> CodedSpace.ranges(Long.MAX_VALUE, 4096, resilience)));
    }

    @Test
    void aMemoryWithoutServersIsRefused() {
        try (CodedServers servers = new CodedServers(0, 0)) {
            assertEquals(
                    "the memory is attached to no server; attach 10 or more, each of a failure domain of its own",
                    refused(() -> servers.space(Resilience.failureRecovery(8, 2), 4096)));
        }
    }

    @Test
    void aFunctionOfDomainsThatThrowsLeavesNothingTaken() {
        try (CodedServers servers = new CodedServers(3, 1)) {
            int[] calls = {0};
            assertThrows(
                    UnsupportedOperationException.class,
                    () -> CodedSpace.create(servers.memory, Resilience.copies(2), 4096, server -> {
                        if (++calls[0] == 4) {
                            throw new UnsupportedOperationException("after the first slab was taken");
                        }
                        return server.address();
                    }));
            for (int i = 0; i < 3; i++) {
                int server = i;
                CodedServers.await("a failed create takes nothing", () -> servers.freeRegions(server) == 1);
            }
        }
    }

    @Test
    void modesAreWrittenAsCommandsWriteThem() {
        assertEquals("failure-recovery", Mode.FAILURE_RECOVERY.toString());
        assertEquals("ec-only", Mode.EC_ONLY.toString());
    }
}
