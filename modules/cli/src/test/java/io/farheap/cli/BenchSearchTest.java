package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class BenchSearchTest {

    @TempDir
    private Path directory;

    @Test
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
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertEquals("none", report.get("device").getAsString());
        JsonArray rows = report.getAsJsonArray("rows");
        assertEquals(4, rows.size());
        for (JsonElement element : rows) {
            JsonObject row = element.getAsJsonObject();
            assertEquals(20, row.get("count").getAsInt());
            int feasible = row.get("feasible").getAsInt();
            int worse = row.get("paper_missed").getAsInt()
                    + row.get("paper_dearer").getAsInt()
                    + row.get("paper_other").getAsInt();
            assertTrue(feasible > 0 && feasible <= 20 && worse <= feasible, row::toString);
            assertTrue(
                    row.get("exact_leaves").getAsDouble() > 0
                            && row.get("paper_leaves").getAsDouble() > 0,
                    row::toString);
            assertTrue(
                    row.get("exact_mean_us").getAsDouble()
                            <= row.get("exact_max_us").getAsDouble(),
                    row::toString);
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
