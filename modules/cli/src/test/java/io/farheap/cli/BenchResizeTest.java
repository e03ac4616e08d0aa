package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench resize}, small: what its report holds, and that it leaves nothing. */
class BenchResizeTest {

    @TempDir
    Path directory;

    @Test
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
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertEquals(8, report.get("resizes").getAsInt());
        JsonArray rows = report.getAsJsonArray("rows");
        assertEquals(2, rows.size());
        for (int i = 0; i < 2; i++) {
            JsonObject row = rows.get(i).getAsJsonObject();
            assertEquals(i == 0 ? "read" : "write", row.get("op").getAsString());
            assertTrue(row.get("least_ratio").getAsDouble() > 0, row::toString);
            assertTrue(row.get("ratio").getAsDouble() <= row.get("most_ratio").getAsDouble(), row::toString);
            assertTrue(row.get("resize_ms").getAsDouble() > 0, row::toString);
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
