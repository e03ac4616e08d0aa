package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The chaos as a user runs it: each test runs one episode. */
@Needs({Need.SOFTVERBS, Need.HOST})
class ChaosTest {

    /** Longer than a busy machine keeps a process waiting: a process that is lost without a stop is a failure. */
    private static final String LEASE = TestDevice.patience(3) + "s";
    /** Two copies on three servers: one is cut off, one is stopped for longer than its lease, one is killed. */
    private static final String COPIES = "63";
    /** Detection of k = 1, r = 1: one server's memory rots. */
    private static final String DETECTION = "19";
    /** Correction of k = 1, r = 4: one server's memory rots, and another is killed. */
    private static final String CORRECTION = "62";
    /** Two copies, whose reads check nothing. */
    private static final String UNCHECKED = "12";

    @Test
    void everyByteIsRight() throws Exception {
        assertEveryByteIsRight(COPIES);
    }

    @ParameterizedTest
    @ValueSource(strings = {DETECTION, CORRECTION})
    @Tag("full")
    void everyByteIsRightWithOtherCodes(String seed) throws Exception {
        assertEveryByteIsRight(seed);
    }

    private static void assertEveryByteIsRight(String seed) throws Exception {
        List<String> filesBefore = ProcessResources.sharedMemoryFiles();
        CommandProcess chaos =
                CommandProcess.startOptimised("chaos", "--minutes", "0.001", "--lease", LEASE, "--seed", seed);
        String output = chaos.awaitEnd(0);
        assertTrue(output.contains("episode 1 (seed " + seed + "): "), output);
        assertTrue(output.contains("every other byte is right"), output);
        assertTrue(output.contains("every byte was right (seed " + seed + ")"), output);
        chaos.assertNothingIsLeft();
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    @Tag("full")
    void whatNoReadChecksIsFound() throws Exception {
        CommandProcess chaos = CommandProcess.start(
                Map.of("SOFTVERBS", "corrupt=0.01,seed=1"),
                "chaos",
                "--minutes",
                "5",
                "--lease",
                LEASE,
                "--seed",
                UNCHECKED);
        String output = chaos.awaitEnd(1);
        assertTrue(output.contains("WRONG: "), output);
        assertTrue(output.contains("FAILED (seed " + UNCHECKED + ")"), output);
        chaos.assertNothingIsLeft();
    }

    @Test
    @Tag("full")
    void killedItLeavesNoProcess() throws Exception {
        CommandProcess chaos =
                CommandProcess.start(Map.of(), "chaos", "--minutes", "10", "--lease", LEASE, "--seed", COPIES);
        chaos.awaitLine("episode 1 ");
        // The command and three servers.
        chaos.awaitProcesses(4);
        chaos.kill();
        chaos.assertNothingIsLeft();
    }
}
