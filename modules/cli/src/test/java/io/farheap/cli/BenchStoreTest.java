package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench store}, small: each part has its rows, nothing of a store is lost, and nothing is left. */
class BenchStoreTest {

    @TempDir
    Path directory;

    @Test
    @Tag("full")
    void everyPartHasItsRowsAndLosesNothing() throws Exception {
        Path json = directory.resolve("store.json");
        Path disk = Files.createDirectories(directory.resolve("disk"));
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "store",
                "--records",
                "20000",
                "--repeat",
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
        Map<String, List<Figures>> parts = new HashMap<>();
        for (Figures row : Figures.read(json).rows()) {
            parts.computeIfAbsent(row.text("part"), _ -> new ArrayList<>()).add(row);
        }
        assertEquals(List.of("far", "file", "file, synced"), of(parts, "append", "commit"));
        parts.get("append").forEach(row -> row.assertRising("p50_ns", "max_ns"));
        assertEquals(List.of("fold-over", "snapshot", "incremental"), of(parts, "checkpoint", "kind"));
        parts.get("checkpoint").forEach(row -> {
            row.assertThere("checkpoint_ms");
            assertTrue(row.flag("all_local"), row::toString);
        });
        assertEquals(List.of("false", "true"), of(parts, "recovery", "index_in_checkpoint"));
        for (Figures row : parts.get("recovery")) {
            row.assertThere("recovery_ms");
            assertTrue(row.count("log_bytes") >= 20_000 * 24, row::toString);
        }
        assertEquals(List.of("0"), of(parts, "loss", "failed"));
    }

    private static List<String> of(Map<String, List<Figures>> parts, String part, String field) {
        return parts.getOrDefault(part, List.of()).stream()
                .map(row -> row.text(field))
                .toList();
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {
            {"--part", "all"},
            {"--records", "10"},
            {"--append", "5000"},
            {"--append", "8m"},
            {"--repeat", "0"},
            {"--turn", "0s"},
            {"--directory", "/nowhere"}
        }) {
            assertEquals(1, Main.commandLine().execute("bench", "store", wrong[0], wrong[1]));
        }
    }
}
