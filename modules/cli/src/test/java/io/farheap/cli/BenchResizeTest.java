package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench resize}, small: its report has the expected content, and it leaves nothing behind. */
class BenchResizeTest {

    @TempDir
    Path directory;

    @Test
    @Tag("full")
    void aCacheGrowsAndShrinksUnderReadsAndWrites() throws Exception {
        Path json = directory.resolve("resize.json");
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "resize",
                "--regions",
                "2",
                "--more",
                "1",
                "--region",
                "1m",
                "--resizes",
                "4",
                "--repeat",
                "2",
                "--every",
                "20ms",
                "--json",
                json.toString());
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        Figures report = Figures.read(json);
        assertEquals(8, report.count("resizes"));
        List<Figures> rows = report.rows();
        assertEquals(
                List.of("read", "write"),
                rows.stream().map(row -> row.text("op")).toList());
        for (Figures row : rows) {
            row.assertRising("least_ratio", "ratio", "most_ratio");
            row.assertThere("resize_ms");
        }
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong :
                new String[][] {{"--regions", "0"}, {"--more", "0"}, {"--resizes", "3"}, {"--repeat", "0"}}) {
            assertEquals(1, Main.commandLine().execute("bench", "resize", wrong[0], wrong[1]));
        }
    }
}
