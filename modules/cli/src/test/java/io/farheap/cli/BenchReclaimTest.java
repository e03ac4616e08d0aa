package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.against.ComparedRows;
import io.farheap.testing.TestDevice;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench reclaim}, small: its report has the expected content, and nothing is lost. */
class BenchReclaimTest {

    private static final String NOTICE = TestDevice.patience(60) + "s";

    @TempDir
    Path directory;

    private List<String> filesBefore;

    @BeforeEach
    void look() throws Exception {
        filesBefore = ProcessResources.sharedMemoryFiles();
    }

    private Figures run(String... more) throws Exception {
        Path json = directory.resolve("reclaim.json");
        List<String> arguments = new ArrayList<>(List.of("bench", "reclaim", "--regions", "3", "--region", "1m"));
        arguments.addAll(List.of("--move", "2", "--notice", NOTICE, "--json", json.toString()));
        arguments.addAll(List.of(more));
        CommandProcess command = CommandProcess.start(Map.of(), arguments.toArray(String[]::new));
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
        Figures report = Figures.read(json);
        assertTrue(report.text("command").contains("bench reclaim"));
        assertTrue(!report.text("device").isEmpty());
        return report;
    }

    @Test
    @Tag("full")
    void aReclaimIsMeasuredBesideABareMigrationAndLosesNothing() throws Exception {
        List<Figures> rows = run("--pause", "chunk", "--unpaused-reads", "true", "--repeat", "1")
                .rows();
        assertEquals(2, rows.size());
        Figures none = rows.getFirst();
        assertEquals("none", none.text("pause"));
        assertEquals(0, none.count("reclaims"));
        Figures row = rows.getLast();
        assertTrue(ComparedRows.MIGRATION.describes(row.fields()), row::toString);
        assertEquals(2, row.count("regions"));
        assertEquals(2, row.count("reclaims"));
        assertEquals(0, row.count("lost_bytes"));
        row.assertThere("notice_ms", "alert_ms", "release_ms", "end_ms", "migration_ms");
        row.assertThere("gib_per_s", "bare_gib_per_s", "memcpy_gib_per_s", "reads_per_s", "writes_per_s");
        // A move's copies are parts of it.
        row.assertRising("copy_ms", "move_ms");
        row.assertRising("least_ratio", "most_ratio");
    }

    @Test
    @Tag("full")
    void serversAreKilledAtTheirDeadlineAndNothingIsLost() throws Exception {
        Figures row = run("--deadline", "--repeat", "2").rows().getFirst();
        assertEquals(2, row.count("reclaims"));
        assertEquals(0, row.count("lost_reclaims"));
        assertEquals(0, row.count("lost_bytes"));
        assertEquals(0, row.count("killed"));
        row.assertThere("notice_limit_ms", "notice_ms", "longest_reclaim_ms", "gib_per_s");
    }

    @Test
    @Tag("full")
    void whatATooShortNoticeLosesIsCounted() throws Exception {
        Path json = directory.resolve("short.json");
        // A notice of 1 ms has passed before any client has received it.
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "reclaim",
                "--regions",
                "2",
                "--region",
                "1m",
                "--move",
                "1",
                "--deadline",
                "--notice",
                "1ms",
                "--repeat",
                "1",
                "--json",
                json.toString());
        // A loss is a result, so the run succeeds.
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        Figures row = Figures.read(json).rows().getFirst();
        assertEquals(1, row.count("lost_reclaims"));
        assertEquals(1 << 20, row.count("lost_bytes"));
        assertEquals(1, row.count("lost_regions"));
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {{"--move", "8"}, {"--repeat", "0"}, {"--notice", "0ms"}}) {
            assertEquals(1, Main.commandLine().execute("bench", "reclaim", wrong[0], wrong[1]));
        }
    }
}
