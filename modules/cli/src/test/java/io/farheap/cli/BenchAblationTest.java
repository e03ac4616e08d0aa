package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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

class BenchAblationTest {

    @TempDir
    private Path directory;

    @Test
    @Needs({Need.SOFTVERBS, Need.HOST})
    @Tag("full")
    void eachRowHasOneOptimisationMore() throws Exception {
        Path json = directory.resolve("ablation.json");
        CommandProcess bench = CommandProcess.start(
                Map.of(),
                "bench",
                "ablation",
                "--op",
                "write",
                "--turns",
                "1",
                "--seconds",
                "0.02",
                "--span",
                "1m",
                "--json",
                json.toString(),
                "--report",
                directory.toString());
        bench.awaitEnd(0);
        bench.assertNothingIsLeft();
        assertTrue(Files.size(directory.resolve("ablation-latency.png")) > 0);
        List<Figures> rows = Figures.read(json).rows();
        List<List<Object>> expected = List.of(
                List.of("locked_hand_over", false, 1, false, false),
                List.of("hand_over", false, 1, false, false),
                List.of("hand_over", true, 1, false, false),
                List.of("hand_over", true, 4, false, false),
                List.of("hand_over", true, 4, true, false),
                List.of("hand_over", true, 4, true, true),
                List.of("library", true, 4, true, true),
                List.of("itself", true, 4, true, true));
        assertEquals(expected.size(), rows.size());
        for (int i = 0; i < rows.size(); i++) {
            Figures row = rows.get(i);
            assertEquals(
                    expected.get(i),
                    List.of(
                            row.text("issued_by"),
                            row.flag("one_sided"),
                            row.count("queue_depth"),
                            row.flag("pinned"),
                            row.count("inline_bytes") > 0));
            row.assertThere("ops_per_s");
            row.assertRising("p50_ns", "p99_ns");
        }
    }

    @Test
    void optionsThatMakeNoSenseAreRefused() {
        StringWriter errors = new StringWriter();
        CommandLine command = Main.commandLine().setErr(new PrintWriter(errors, true));
        assertEquals(CommandLine.ExitCode.SOFTWARE, command.execute("bench", "ablation", "--outstanding", "0"));
        assertTrue(errors.toString().contains("--outstanding 0: it must be from 1 to 256"), errors::toString);
    }
}
