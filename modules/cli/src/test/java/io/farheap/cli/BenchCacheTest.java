package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.against.ComparedRows;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class BenchCacheTest {

    @TempDir
    private Path directory;

    @Test
    @Needs({Need.SOFTVERBS, Need.HOST})
    @Tag("full")
    void smallRecordsTravelInBatchesToo() throws Exception {
        Path json = directory.resolve("cache.json");
        CommandProcess bench = CommandProcess.start(
                Map.of(),
                "bench",
                "cache",
                "--size",
                "16,3k",
                "--batch",
                "8",
                "--seconds",
                "0.02",
                "--json",
                json.toString(),
                "--report",
                directory.toString());
        bench.awaitEnd(0);
        bench.assertNothingIsLeft();
        assertTrue(Files.size(directory.resolve("cache-throughput.png")) > 0);
        List<Figures> rows = Figures.read(json).rows();
        assertEquals(4, rows.size());
        for (Figures row : rows) {
            row.assertThere("ops_per_s", "list_ops_per_s");
            if (row.count("size") == 16) {
                assertEquals(8, row.count("batch"));
                assertTrue(ComparedRows.CACHE.describes(row.fields()), row::toString);
                row.assertThere("batched_ops_per_s", "batched_over_single");
            } else {
                assertFalse(row.has("batch"), row::toString);
            }
        }
    }

    @Test
    void optionsThatMakeNoSenseAreRefused() {
        StringWriter errors = new StringWriter();
        CommandLine command = Main.commandLine().setErr(new PrintWriter(errors, true));
        assertEquals(
                CommandLine.ExitCode.SOFTWARE, command.execute("bench", "cache", "--batch", "512", "--batches", "128"));
        assertTrue(
                errors.toString()
                        .contains("--batch 512: it must be from 1 to 4096, and with --batches 128 at most 508"),
                errors::toString);
    }
}
