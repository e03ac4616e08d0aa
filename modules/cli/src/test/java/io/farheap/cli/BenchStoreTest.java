package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench store}, small: each part has its rows, nothing of a store is lost, and nothing is left. */
class BenchStoreTest {

    @TempDir
    Path directory;

    @Test
    void everyPartHasItsRowsAndLosesNothing() throws Exception {
        Path json = directory.resolve("store.json");
        Path disk = Files.createDirectories(directory.resolve("disk"));
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "store",
                "--records",
                "20000",
                "--rounds",
                "1",
                "--turn",
                "50ms",
                "--directory",
                disk.toString(),
                "--json",
                json.toString());
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        try (var left = Files.list(disk)) {
            assertEquals(List.of(), left.toList());
        }
        Map<String, List<JsonObject>> parts = new HashMap<>();
        for (JsonElement element :
                JsonParser.parseString(Files.readString(json)).getAsJsonObject().getAsJsonArray("rows")) {
            JsonObject row = element.getAsJsonObject();
            parts.computeIfAbsent(row.get("part").getAsString(), _ -> new ArrayList<>())
                    .add(row);
        }
        assertEquals(List.of("far", "file", "file, synced"), of(parts, "append", row -> text(row, "commit")));
        for (JsonObject row : parts.get("append")) {
            assertTrue(row.get("p50_ns").getAsLong() > 0, row::toString);
            assertTrue(row.get("p50_ns").getAsLong() <= row.get("max_ns").getAsLong(), row::toString);
        }
        assertEquals(
                List.of("fold-over", "snapshot", "incremental"), of(parts, "checkpoint", row -> text(row, "kind")));
        for (JsonObject row : parts.get("checkpoint")) {
            assertTrue(row.get("checkpoint_ms").getAsDouble() > 0, row::toString);
        }
        assertEquals(List.of("false", "true"), of(parts, "recovery", row -> text(row, "index_in_checkpoint")));
        for (JsonObject row : parts.get("recovery")) {
            assertTrue(row.get("recovery_ms").getAsDouble() > 0, row::toString);
            assertTrue(row.get("log_bytes").getAsLong() >= 20_000 * 24, row::toString);
        }
        assertEquals(List.of("0"), of(parts, "loss", row -> text(row, "failed")));
    }

    private static List<String> of(
            Map<String, List<JsonObject>> parts, String part, Function<JsonObject, String> field) {
        return parts.getOrDefault(part, List.of()).stream().map(field).toList();
    }

    private static String text(JsonObject row, String field) {
        return row.get(field).getAsString();
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {
            {"--part", "all"},
            {"--records", "10"},
            {"--append", "5000"},
            {"--append", "8m"},
            {"--rounds", "0"},
            {"--turn", "0s"},
            {"--directory", "/nowhere"}
        }) {
            assertEquals(1, Main.commandLine().execute("bench", "store", wrong[0], wrong[1]));
        }
    }
}
