package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The soak as a user runs it, in short. */
@Needs({Need.SOFTVERBS, Need.HOST})
class SoakTest {

    /**
     * A seed that begins with a client that is stopped for longer than its lease, and continues when others have its
     * regions.
     */
    private static final String STOPPED_CLIENT = "20";
    /** A seed that begins with requests in batches, and a server that is stopped for longer than its lease. */
    private static final String STOPPED_SERVER = "113";
    /** A seed that begins with one-sided operations: in batches, checksums would notice spoilt bytes. */
    private static final String ONE_SIDED = "9708";

    /** One episode, as short as possible, with leases that end soon: all of it is load. */
    private static final List<String> SMALL = List.of("--minutes", "0.05", "--lease", TestDevice.patience(5) + "s");

    @Test
    void everyByteIsRight() throws Exception {
        assertEveryByteIsRight(STOPPED_CLIENT);
    }

    @Test
    @Tag("full")
    void everyByteIsRightWhereAServerIsStopped() throws Exception {
        assertEveryByteIsRight(STOPPED_SERVER);
    }

    private static void assertEveryByteIsRight(String seed) throws Exception {
        List<String> filesBefore = ProcessResources.sharedMemoryFiles();
        List<String> arguments = new ArrayList<>(List.of("soak", "--seed", seed));
        arguments.addAll(Effort.isFull() ? List.of("--minutes", "0.1") : SMALL);
        CommandProcess soak = CommandProcess.startOptimised(arguments.toArray(String[]::new));
        soak.awaitLine("stopped for longer than its lease");
        soak.awaitLine("now: ");
        String output = soak.awaitEnd(0);
        assertTrue(output.contains("every byte was right (seed " + seed + ")"), output);
        assertTrue(
                output.lines()
                                .filter(line -> line.contains("every other byte is right"))
                                .count()
                        >= 1,
                output);
        soak.assertNothingIsLeft();
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
    }

    /** After the finding, processes with spoilt bytes wait for time-outs, so other tests run meanwhile. */
    @Test
    @Execution(ExecutionMode.CONCURRENT)
    @Tag("full")
    void aDeviceThatSpoilsBytesIsFound() throws Exception {
        CommandProcess soak = CommandProcess.start(
                Map.of("SOFTVERBS", "corrupt=0.01,seed=1"), "soak", "--minutes", "5", "--seed", ONE_SIDED);
        String output = soak.awaitEnd(1);
        // One reader finds a value that is not the last one, another a value that was never written.
        assertTrue(
                output.contains("WRONG: ")
                        && (output.contains(" and must be 0x")
                                || output.contains("splits of a page disagree")
                                || output.contains(", which nobody has written")
                                || output.contains(", and the latest is ")),
                output);
        assertTrue(output.contains("FAILED (seed " + ONE_SIDED + ")"), output);
        soak.assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {STOPPED_CLIENT, STOPPED_SERVER})
    @Tag("full")
    void killedWhileItHasStoppedAProcessItLeavesNone(String seed) throws Exception {
        CommandProcess soak = CommandProcess.start(Map.of(), "soak", "--minutes", "10", "--seed", seed);
        soak.awaitLine("now: ");
        soak.kill();
        soak.assertNothingIsLeft();
    }
}
