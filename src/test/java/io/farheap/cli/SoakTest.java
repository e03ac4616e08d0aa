package io.farheap.cli;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The soak as a user runs it, in short. */
@Timeout(300)
@Needs({Need.SOFTVERBS, Need.HOST})
class SoakTest {

    private static final String SEED = "3";
    /** One that begins with one-sided operations: what spoils batches is noticed by their checksums. */
    private static final String ONE_SIDED = "9708";

    @Test
    void everyByteIsRight() throws Exception {
        List<String> filesBefore = ProcessResources.sharedMemoryFiles();
        CommandProcess soak = CommandProcess.start(Map.of(), "soak", "--minutes", "0.5", "--seed", SEED);
        String output = soak.awaitEnd(0);
        assertTrue(output.contains("every byte was right (seed " + SEED + ")"), output);
        assertTrue(output.lines().filter(line -> line.contains("every other byte is right")).count() >= 1, output);
        soak.assertNothingIsLeft();
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
    }

    @Test
    void aDeviceThatSpoilsBytesIsFound() throws Exception {
        CommandProcess soak = CommandProcess.start(Map.of("SOFTVERBS", "corrupt=0.01,seed=1"), "soak", "--minutes", "0.05", "--seed", ONE_SIDED);
        String output = soak.awaitEnd(1);
        assertTrue(output.contains("WRONG: ") && output.contains(" and must be 0x"), output);
        assertTrue(output.contains("FAILED (seed " + ONE_SIDED + ")"), output);
        soak.assertNothingIsLeft();
    }

    @Test
    void killedHalfWayItLeavesNoProcess() throws Exception {
        CommandProcess soak = CommandProcess.start(Map.of(), "soak", "--minutes", "10", "--seed", SEED);
        soak.awaitLine("operations,");
        soak.kill();
        soak.assertNothingIsLeft();
    }
}
