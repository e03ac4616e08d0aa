package io.farheap.bench.resilience;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.Plot;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code bench resilience --report} writes. */
class ResiliencePlotsTest {

    @TempDir
    Path directory;

    private static Rows.Figure figure(Kind kind, boolean write, String fault, int status) {
        Tally tally = new Tally();
        tally.ended(status, 1500, 0);
        tally.endTurn();
        return new Rows.Figure(
                kind, new Access(write, 4096), fault, tally, Map.of(), null, null, 1.25, Rows.Repair.NONE);
    }

    @Test
    void eachFaultAndSystemIsDrawnAlsoWhereOneHasNoFigure() throws Exception {
        Resilience resilience = Resilience.failureRecovery(8, 2);
        Kind copies = Kind.baseline(Kind.TWO_COPIES, resilience, directory);
        ResiliencePlots plots = new ResiliencePlots();
        assertEquals(0, plots.plots().length);
        for (boolean write : new boolean[] {false, true}) {
            plots.add(figure(Kind.coded(resilience), write, Faults.NONE, CodedStatus.OK));
            plots.add(figure(copies, write, Faults.NONE, CodedStatus.OK));
            plots.add(figure(Kind.coded(resilience), write, Faults.CRASH, CodedStatus.OK));
            plots.add(figure(copies, write, Faults.CRASH, CodedStatus.LOST));
        }
        for (Plot plot : plots.plots()) {
            plot.write(directory, List.of("a test"));
        }
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(
                    List.of(
                            "resilience-loss-memory.png",
                            "resilience-read-faults.png",
                            "resilience-read-memory.png",
                            "resilience-write-faults.png",
                            "resilience-write-memory.png"),
                    files.map(file -> file.getFileName().toString()).sorted().toList());
        }
        assertTrue(Files.size(directory.resolve("resilience-read-faults.png")) > 1000);
    }
}
