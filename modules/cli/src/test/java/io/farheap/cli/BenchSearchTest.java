package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class BenchSearchTest {

    @TempDir
    private Path directory;

    @Test
    @Tag("full")
    void itReportsBothSearches() throws IOException {
        Path json = directory.resolve("search.json");
        assertEquals(
                0,
                Main.commandLine()
                        .execute(
                                "bench",
                                "search",
                                "--cores",
                                "3",
                                "--record",
                                "1024",
                                "--count",
                                "20",
                                "--models",
                                "2",
                                "--noise",
                                "0,0.3",
                                "--json",
                                json.toString()));
        Figures report = Figures.read(json);
        assertEquals("none", report.text("device"));
        assertEquals(4, report.rows().size());
        for (Figures row : report.rows()) {
            assertEquals(20, row.count("count"));
            int feasible = row.count("feasible");
            int worse = row.count("paper_missed") + row.count("paper_dearer") + row.count("paper_other");
            assertTrue(feasible > 0 && feasible <= 20 && worse <= feasible, row::toString);
            assertTrue(row.number("exact_leaves") > 0 && row.number("paper_leaves") > 0, row::toString);
            row.assertRising("exact_mean_us", "exact_max_us");
        }
    }

    @Test
    void optionsThatMakeNoSenseAreRefused() {
        StringWriter errors = new StringWriter();
        CommandLine command = Main.commandLine().setErr(new PrintWriter(errors, true));
        assertEquals(CommandLine.ExitCode.SOFTWARE, command.execute("bench", "search", "--noise", "1"));
        assertTrue(errors.toString().contains("--noise 1.0: it is from 0 to less than 1"), errors::toString);
        assertEquals(
                CommandLine.ExitCode.SOFTWARE, command.execute("bench", "search", "--models", "5", "--count", "4"));
    }
}
