package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code farheap bench ycsb}, small: the content of its report, its messages about absent stores, and that it leaves
 * nothing behind.
 */
class BenchYcsbTest {

    private static final Set<String> OF_OTHERS = Set.of(
            "faster",
            "faster-file",
            "far-caffeine",
            "rocksdb",
            "rocksdb-64",
            "rocksdb-multiget",
            "rocksdb-async",
            "rocksdb-index",
            "rocksdb-index-get",
            "rocksdb-index-64",
            "rocksdb-index-async",
            "lmdb",
            "mapdb",
            "redis",
            "redis-mget",
            "memcached",
            "memtier");
    /** They are programs: where they are installed they are measured. */
    private static final Set<String> PROGRAMS = Set.of("redis-benchmark", "memcslap", "db_bench");

    @TempDir
    Path directory;

    private List<Figures> rows(String... options) throws Exception {
        Path json = directory.resolve("ycsb.json");
        Path disk = Files.createDirectories(directory.resolve("disk"));
        List<String> arguments = new ArrayList<>(List.of(
                "bench",
                "ycsb",
                "--json",
                json.toString(),
                "--directory",
                disk.toString(),
                "--rounds",
                "1",
                "--turn",
                "20ms"));
        arguments.addAll(List.of(options));
        CommandProcess command = CommandProcess.start(Map.of(), arguments.toArray(String[]::new));
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        try (var left = Files.list(disk)) {
            assertEquals(List.of(), left.toList());
        }
        return Figures.read(json).rows();
    }

    private static void assertMeasured(Figures row) {
        row.assertThere("ops_per_s", "threads", "bytes_local", "in_flight", "group");
        assertTrue(row.number("in_flight") >= row.number("threads"), row::toString);
        assertTrue(row.has("same_memory"), row::toString);
        row.assertRising("p50_ns", "p99_ns");
        assertTrue(row.number("bytes_per_op") >= 0, row::toString);
        assertTrue(row.number("index_bytes") >= 0, row::toString);
        for (String share : new String[] {"local_share", "far_share", "pending_share"}) {
            double value = row.number(share);
            assertTrue(value >= 0 && value <= 1, row::toString);
        }
        for (String text : new String[] {"engine", "device", "model"}) {
            assertTrue(!row.text(text).isEmpty(), row::toString);
        }
    }

    @Test
    @Tag("full")
    void figure18HasEveryContestantOrSaysWhyNot() throws Exception {
        Path plots = directory.resolve("plots");
        Map<String, Integer> measured = new HashMap<>();
        Set<String> absent = new HashSet<>();
        for (Figures row : rows("--records", "5000", "--report", plots.toString())) {
            assertEquals(18, row.count("figure"));
            String name = row.text("contestant");
            if (row.has("absent")) {
                assertTrue(!row.text("absent").isEmpty());
                absent.add(name);
                continue;
            }
            if (PROGRAMS.contains(name)) {
                row.assertThere("ops_per_s", "threads", "bytes_local", "in_flight", "group");
                continue;
            }
            assertMeasured(row);
            measured.merge(name, 1, Integer::sum);
            // A turn has at least 64 operations.
            double ios = row.number("ios_per_read");
            switch (name) {
                case "local", "local-1", "offheap", "offheap-touched", "hashmap", "agrona", "agrona-touched" -> {
                    row.assertCount(1, "local_share");
                    assertEquals(0, ios, row::toString);
                }
                case "far-cached", "file-cached" -> assertTrue(ios > 0 && ios < 1.2, row::toString);
                // The reads that are not local, and a few more for chains.
                case "far", "file", "file-64", "file-1", "tiered", "fio" ->
                    assertTrue(ios > 0.5 && ios < 1.2, row::toString);
                default -> assertEquals("raw", name);
            }
        }
        // One and two threads: uniform and Zipfian, and Zipfian with less memory.
        for (String store : new String[] {"far", "file", "tiered", "far-cached", "file-cached"}) {
            assertEquals(6, measured.get(store), measured::toString);
        }
        for (String store : new String[] {"local", "local-1", "raw", "file-64", "file-1"}) {
            assertEquals(4, measured.get(store), measured::toString);
        }
        for (String map : new String[] {"offheap", "offheap-touched", "hashmap", "agrona", "agrona-touched"}) {
            assertEquals(4, measured.get(map), measured::toString);
        }
        assertTrue(absent.containsAll(OF_OTHERS), absent::toString);
        assertTrue(Files.size(plots.resolve("ycsb-18-uniform-8.png")) > 0);
        assertTrue(Files.size(plots.resolve("ycsb-18-zipfian-8.png")) > 0);
        assertTrue(Files.size(plots.resolve("ycsb-18-zipfian-8-little.png")) > 0);
    }

    @Test
    @Tag("full")
    void figure19HasEveryShareOfLocalMemory() throws Exception {
        Path plots = directory.resolve("plots");
        Path menu = directory.resolve("menu.json");
        Files.writeString(menu, "{\"types\": [{\"name\": \"m1\", \"cores\": 8, \"memory\": \"100g\", \"price\": 1}]}");
        Map<String, List<Double>> shares = new HashMap<>();
        for (Figures row : rows(
                "--figure",
                "19",
                "--records",
                "4000",
                "--value",
                "1024",
                "--threads",
                "1",
                "--menu",
                menu.toString(),
                "--want",
                "1",
                "--report",
                plots.toString())) {
            if (row.has("absent")) {
                continue;
            }
            assertMeasured(row);
            double price = row.number("price_tib_hour_without_index");
            double memory = row.number("local_share") + (row.number("far_share") > 0 ? 1 : 0);
            assertEquals(10.24 * memory, price, 0.02);
            assertTrue(row.number("price_tib_hour") >= price, row::toString);
            assertEquals(1024, row.count("value"));
            shares.computeIfAbsent(row.text("contestant"), name -> new ArrayList<>())
                    .add(row.number("local_share"));
        }
        shares.remove("fio");
        assertEquals(Set.of("local", "far", "raw", "file"), shares.keySet());
        for (String store : new String[] {"far", "file"}) {
            List<Double> ofStore = shares.get(store);
            assertEquals(6, ofStore.size());
            assertEquals(ofStore.stream().sorted().toList(), ofStore);
            assertTrue(ofStore.getFirst() < 0.1, ofStore::toString);
            assertEquals(1, ofStore.getLast());
        }
        assertTrue(Files.size(plots.resolve("ycsb-19-1024.png")) > 0);
    }

    @Test
    @Tag("full")
    void figure20GivesMoreAndMoreFarMemoryWhileItIsRead() throws Exception {
        Path plots = directory.resolve("plots");
        List<Double> shares = new ArrayList<>();
        int resizing = 0;
        for (Figures row :
                rows("--figure", "20", "--records", "100000", "--threads", "1", "--report", plots.toString())) {
            assertEquals(20, row.count("figure"));
            if (row.text("contestant").equals("tiered, resizing")) {
                row.assertThere("ops_per_s");
                resizing++;
                continue;
            }
            assertMeasured(row);
            assertEquals("tiered", row.text("contestant"));
            if (row.text("distribution").equals("uniform")) {
                shares.add(row.number("far_share"));
            }
        }
        assertEquals(4, resizing);
        assertEquals(5, shares.size());
        // Far memory comes in whole regions.
        for (int i = 0; i < 5; i++) {
            assertEquals(0.25 * i, shares.get(i), 0.2, shares::toString);
        }
        assertEquals(shares.stream().sorted().toList(), shares);
        assertEquals(1, shares.getLast());
        assertTrue(Files.size(plots.resolve("ycsb-20-8.png")) > 0);
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {
            {"--figure", "17"},
            {"--records", "10"},
            {"--value", "12"},
            {"--threads", "0"},
            {"--rounds", "0"},
            {"--directory", "/nowhere"},
            {"--menu", "/nowhere"},
            {"--client-type", "m1"},
            {"--want", "1000"}
        }) {
            assertEquals(1, Main.commandLine().execute("bench", "ycsb", wrong[0], wrong[1]));
        }
    }
}
