package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.ComparedRows;
import io.farheap.testing.TestDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench reclaim}, small: what its report holds, and that nothing is lost. */
class BenchReclaimTest {

    private static final String NOTICE = TestDevice.patience(60) + "s";

    @TempDir
    Path directory;

    private List<String> filesBefore;

    @BeforeEach
    void look() throws Exception {
        filesBefore = ProcessResources.sharedMemoryFiles();
    }

    private JsonObject run(String... more) throws Exception {
        Path json = directory.resolve("reclaim.json");
        List<String> arguments = new ArrayList<>(List.of("bench", "reclaim", "--regions", "3", "--region", "1m"));
        arguments.addAll(List.of("--move", "2", "--notice", NOTICE, "--json", json.toString()));
        arguments.addAll(List.of(more));
        CommandProcess command = CommandProcess.start(Map.of(), arguments.toArray(String[]::new));
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertTrue(report.get("command").getAsString().contains("bench reclaim"));
        assertTrue(!report.get("device").getAsString().isEmpty());
        return report;
    }

    private static void assertPositive(JsonObject row, String... fields) {
        for (String field : fields) {
            assertTrue(row.get(field).getAsDouble() > 0, () -> field + " of " + row);
        }
    }

    @Test
    void aReclaimIsMeasuredBesideABareMigrationAndLosesNothing() throws Exception {
        JsonArray rows = run("--pause", "chunk", "--unpaused-reads", "true", "--repeat", "1")
                .getAsJsonArray("rows");
        assertEquals(2, rows.size());
        JsonObject none = rows.get(0).getAsJsonObject();
        assertEquals("none", none.get("pause").getAsString());
        assertEquals(0, none.get("reclaims").getAsInt());
        JsonObject row = rows.get(1).getAsJsonObject();
        assertTrue(ComparedRows.MIGRATION.describes(row), row::toString);
        assertEquals(2, row.get("regions").getAsInt());
        assertEquals(2, row.get("reclaims").getAsInt());
        assertEquals(0, row.get("lost_bytes").getAsLong());
        assertPositive(row, "notice_ms", "alert_ms", "copy_ms", "move_ms", "release_ms", "end_ms", "migration_ms");
        assertPositive(row, "gib_per_s", "bare_gib_per_s", "memcpy_gib_per_s", "reads_per_s", "writes_per_s");
        assertTrue(row.get("move_ms").getAsDouble() >= row.get("copy_ms").getAsDouble(), row::toString);
        assertTrue(row.get("least_ratio").getAsDouble() <= row.get("most_ratio").getAsDouble(), row::toString);
    }

    @Test
    void serversAreKilledAtTheirDeadlineAndNothingIsLost() throws Exception {
        JsonObject row =
                run("--deadline", "--repeat", "2").getAsJsonArray("rows").get(0).getAsJsonObject();
        assertEquals(2, row.get("reclaims").getAsInt());
        assertEquals(0, row.get("lost_reclaims").getAsInt());
        assertEquals(0, row.get("lost_bytes").getAsLong());
        assertEquals(0, row.get("killed").getAsInt());
        assertPositive(row, "notice_limit_ms", "notice_ms", "longest_reclaim_ms", "gib_per_s");
    }

    @Test
    void whatATooShortNoticeLosesIsCounted() throws Exception {
        Path json = directory.resolve("short.json");
        // A ms is over before anybody has heard of it.
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
        command.awaitEnd(1);
        command.assertNothingIsLeft();
        JsonObject row = JsonParser.parseString(Files.readString(json))
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
        assertEquals(1, row.get("lost_reclaims").getAsInt());
        assertEquals(1 << 20, row.get("lost_bytes").getAsLong());
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {{"--move", "8"}, {"--repeat", "0"}, {"--notice", "0ms"}}) {
            assertEquals(1, Main.commandLine().execute("bench", "reclaim", wrong[0], wrong[1]));
        }
    }
}
