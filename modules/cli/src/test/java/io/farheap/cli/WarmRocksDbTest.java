package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code farheap bench ycsb} with RocksDB's library, where src/peers was built: its filters and indexes are in its
 * block cache once it is warm, and its rows say which memory it has.
 */
@Tag("full")
class WarmRocksDbTest {

    /** Written by the build of src/peers; the working directory is the checkout. */
    private static final Path CLASS_PATH = Path.of("modules", "peers", "target", "test.classpath");

    private static final double LEAST_HITS = 0.99;

    @TempDir
    Path directory;

    private Map<String, Figures> rows(String contestants) throws Exception {
        Path json = directory.resolve("ycsb.json");
        Path log = directory.resolve("ycsb.log");
        Process bench = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-Dfarheap.verbs=" + System.getProperty("farheap.verbs"),
                        "-cp",
                        Files.readString(CLASS_PATH).strip(),
                        "io.farheap.cli.Main",
                        "bench",
                        "ycsb",
                        "--contestants",
                        contestants,
                        "--records",
                        "200000",
                        "--threads",
                        "1",
                        "--rounds",
                        "1",
                        "--turn",
                        "200ms",
                        "--directory",
                        directory.toString(),
                        "--json",
                        json.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertEquals(0, bench.waitFor(), () -> log + " has its output");
        Map<String, Figures> rows = new TreeMap<>();
        for (Figures row : Figures.read(json).rows()) {
            // Uniform keys come first, at a sixth of the log in local memory.
            rows.putIfAbsent(row.text("contestant"), row);
        }
        return rows;
    }

    @Test
    void itsFiltersAreInTheCacheAndItsRowsSayWhatItHas() throws Exception {
        assumeTrue(Files.isReadable(CLASS_PATH), "src/peers is not built: ./farheap bench ycsb builds it");
        List<String> names = new ArrayList<>(List.of("rocksdb", "rocksdb-64", "rocksdb-index", "rocksdb-index-64"));
        Map<String, Figures> rows = rows("far," + String.join(",", names));
        for (String name : names) {
            Figures row = rows.get(name);
            assertFalse(row.has("absent"), row::toString);
            assertTrue(row.number("filter_hits") > LEAST_HITS, row::toString);
            assertTrue(row.number("index_hits") > LEAST_HITS, row::toString);
            row.assertCount(name.endsWith("-64") ? 64 : 1, "threads");
            assertEquals(name.contains("index"), row.flag("same_memory"), row::toString);
        }
        rows.get("rocksdb-64").assertCount(64, "in_flight");
        rows.get("rocksdb-64").assertCount(1, "group");
        // One multiGet.
        rows.get("rocksdb-index").assertCount(64, "group");
    }
}
