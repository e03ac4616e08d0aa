package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench manager}, small: what its report holds, and that it leaves nothing. */
class BenchManagerTest {

    @TempDir
    Path directory;

    @Test
    void aManagerIsMeasuredBesideItsZooKeeper() throws Exception {
        Path json = directory.resolve("manager.json");
        Path data = Files.createDirectory(directory.resolve("data"));
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "manager",
                "--servers",
                "20",
                "--caches",
                "50",
                "--clients",
                "3",
                "--callers",
                "4",
                "--allocations",
                "40",
                "--repeat",
                "2",
                "--data",
                data.toString(),
                "--json",
                json.toString());
        String printed = command.awaitEnd(0);
        command.assertNothingIsLeft();
        try (Stream<Path> left = Files.list(data)) {
            assertEquals(List.of(), left.toList());
        }
        assertTrue(printed.contains("20 servers, 50 caches of 3 client processes, 4 callers"), printed);
        JsonObject report = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertTrue(report.get("command").getAsString().contains("bench manager"));
        assertEquals(20, report.get("servers").getAsInt());
        assertEquals(50, report.get("caches").getAsInt());
        for (String field : List.of(
                "record_bytes",
                "allocations_per_s",
                "deallocations_per_s",
                "zookeeper_writes_per_s",
                "leader_change_ms")) {
            assertTrue(report.get(field).getAsDouble() > 0, () -> field + " of " + report);
        }
        double best = Math.max(
                report.get("zookeeper_single_writes_per_s").getAsDouble(),
                report.get("zookeeper_multi_writes_per_s").getAsDouble());
        assertTrue(report.get("zookeeper_writes_per_s").getAsDouble() >= best, report::toString);
        double before = 0;
        for (String field :
                List.of("allocation_p50_ms", "allocation_p99_ms", "allocation_p999_ms", "allocation_max_ms")) {
            double now = report.get(field).getAsDouble();
            assertTrue(now >= before, () -> field + " of " + report);
            before = now;
        }
        assertEquals(2, report.getAsJsonArray("rows").size());
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {{"--servers", "0"}, {"--callers", "0"}, {"--caches", "10"}}) {
            assertEquals(1, Main.commandLine().execute("bench", "manager", wrong[0], wrong[1]));
        }
    }
}
