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

/** The files that {@code bench resilience --report} writes. */
class ResiliencePlotsTest {

    @TempDir
    Path directory;

    private static ResultRows.FigureRow figure(MemoryKind kind, boolean write, String fault, int status) {
        RequestTally tally = new RequestTally();
        tally.ended(status, 1500, 0);
        tally.endTurn();
        return new ResultRows.FigureRow(
                kind,
                new RequestKind(write, 4096),
                fault,
                tally,
                Map.of(),
                null,
                null,
                1.25,
                0,
                1,
                ResultRows.Repair.NONE);
    }

    @Test
    void eachFaultAndSystemIsDrawnAlsoWhereOneHasNoFigure() throws Exception {
        Resilience resilience = Resilience.failureRecovery(8, 2);
        MemoryKind copies = MemoryKind.baseline(MemoryKind.TWO_COPIES, resilience, directory);
        MemoryKind backup = MemoryKind.baseline(MemoryKind.SSD_BACKUP, resilience, directory);
        ResiliencePlots plots = new ResiliencePlots();
        assertEquals(0, plots.plots().length);
        for (boolean write : new boolean[] {false, true}) {
            plots.add(figure(MemoryKind.coded(resilience), write, FaultOptions.NONE, CodedStatus.OK));
            plots.add(figure(copies, write, FaultOptions.NONE, CodedStatus.OK));
            // Its probability of a loss is 0, which a logarithmic axis cannot show.
            plots.add(figure(backup, write, FaultOptions.NONE, CodedStatus.OK));
            plots.add(figure(MemoryKind.coded(resilience), write, FaultOptions.CRASH, CodedStatus.OK));
            plots.add(figure(copies, write, FaultOptions.CRASH, CodedStatus.LOST));
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
