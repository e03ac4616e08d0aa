package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench manager}, small: its report has the expected content, and it leaves nothing behind. */
class BenchManagerTest {

    @TempDir
    Path directory;

    @Test
    @Tag("full")
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
        Figures report = Figures.read(json);
        assertTrue(report.text("command").contains("bench manager"));
        assertEquals(20, report.count("servers"));
        assertEquals(50, report.count("caches"));
        assertTrue(report.count("record_bytes") > 0, report::toString);
        report.assertThere("allocations_per_s", "deallocations_per_s", "leader_change_ms");
        // Each turn takes the better of the two, so its median is no less than either's, whatever the machine does.
        report.assertRising("zookeeper_single_writes_per_s", "zookeeper_writes_per_s");
        report.assertRising("zookeeper_multi_writes_per_s", "zookeeper_writes_per_s");
        report.assertRising("allocation_p50_ms", "allocation_p99_ms", "allocation_p999_ms", "allocation_max_ms");
        report.assertRising("tick_p50_ms", "tick_max_ms");
        assertEquals(2, report.rows().size());
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {{"--servers", "0"}, {"--callers", "0"}, {"--caches", "10"}}) {
            assertEquals(1, Main.commandLine().execute("bench", "manager", wrong[0], wrong[1]));
        }
    }
}
