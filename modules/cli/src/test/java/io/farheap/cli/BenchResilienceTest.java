package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench resilience}, small: the content of its rows; no byte is wrong unless a fault made it wrong. */
class BenchResilienceTest {

    @TempDir
    Path directory;

    private List<Figures> rows(String... options) throws Exception {
        return report(options).rows();
    }

    private Figures report(String... options) throws Exception {
        Path json = directory.resolve("resilience.json");
        List<String> arguments = new ArrayList<>(List.of("bench", "resilience", "--bytes", "128k", "--turns", "2"));
        arguments.addAll(List.of("--json", json.toString()));
        arguments.addAll(List.of(options));
        List<String> filesBefore = ProcessResources.sharedMemoryFiles();
        CommandProcess command = CommandProcess.start(Map.of(), arguments.toArray(String[]::new));
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
        return Figures.read(json);
    }

    private static void checkSound(Figures row) {
        row.assertCount(0, "wrong_bytes");
        row.assertCount(0, "corrupt");
        row.assertThere("stall_us");
        double lost = row.number("loss_probability");
        boolean expected =
                switch (row.text("system")) {
                    case "one-copy" -> lost == 1;
                    case "ssd-backup" -> lost == 0;
                    default -> lost > 0 && lost < 1;
                };
        assertTrue(expected, row::toString);
        row.assertSaid("cpu_ns", "cpu_overhead", "unread_pages", "regenerate_ms");
    }

    private static void checkNone(Figures row) {
        row.assertCount(0, "lost");
        checkRequested(row);
        row.assertThere("p50_ns", "p99_ns", "p999_ns", "cpu_ns");
        checkRatios(row);
        boolean write = row.text("op").equals("write");
        // A write of a page sends all data splits and parity, and reads nothing.
        if (row.text("system").equals("coded") && write && row.number("size") > 64) {
            row.assertCount(1.5, "wire_overhead");
        } else {
            assertTrue(row.number("wire_overhead") >= 1, row::toString);
        }
    }

    /** There are two turns, and each has at least one request, however short it is. */
    private static void checkRequested(Figures row) {
        assertTrue(row.number("requests") >= 2, row::toString);
    }

    /** Each row has ratios: a read's to one copy, a write's to two copies. */
    private static void checkRatios(Figures row) {
        String baseline = row.text("op").equals("write") ? "two-copies" : "one-copy";
        for (String ratio : List.of("ratio_p50", "ratio_p99", "cpu_overhead")) {
            row.assertThere(ratio);
            if (row.text("system").equals(baseline)) {
                row.assertCount(1, ratio);
            }
        }
    }

    private static void checkCrash(Figures row) {
        if (row.text("system").equals("one-copy")) {
            row.assertNone("regenerate_ms");
            return;
        }
        row.assertCount(0, "lost");
        row.assertThere("regenerate_ms");
        row.assertCount(1, "regenerate_times");
        if (row.text("system").equals("coded") && row.number("size") > 64) {
            row.assertCount(1, "paper_ratio_p99_to_two_copies");
            assertEquals("figure 12b", row.text("paper_figure"));
        }
        assertTrue(row.number("regeneration_bytes_rebuilt") > 0, row::toString);
        assertTrue(row.number("regeneration_bytes_read") >= row.number("regeneration_bytes_rebuilt"), row::toString);
    }

    @Test
    @Tag("full")
    void eachSystemHasARowForEachRequestAndNothingIsWrong() throws Exception {
        // LZ4 is a library of src/peers. EC-Cache also runs as a client that polls.
        String against = "ssd-backup,compressed-copies-deflate,compressed-copies,ec-cache";
        String absent = "compressed-copies";
        List<Figures> rows = rows(
                "--k",
                "2",
                "--r",
                "1",
                "--seconds",
                "0.1",
                "--beside",
                against,
                "--directory",
                directory.toString(),
                "--outages",
                "1",
                "--fault",
                "none,crash");
        Set<String> names = new HashSet<>();
        assertEquals(
                List.of(absent),
                rows.stream()
                        .filter(row -> row.has("absent"))
                        .map(row -> row.text("system"))
                        .toList());
        rows = rows.stream().filter(row -> !row.has("absent")).toList();
        for (Figures row : rows) {
            String system = row.text("system");
            String fault = row.text("fault");
            checkMeans(row);
            names.add(fault + " " + system + " " + row.text("op") + " " + row.text("size"));
            if (against.contains(system) || system.startsWith("ec-cache")) {
                row.assertCount(0, "wrong_bytes");
                row.assertCount(0, "corrupt");
                row.assertCount(0, "lost");
                checkBaseline(row);
                continue;
            }
            checkSound(row);
            boolean coded = system.equals("coded");
            row.assertCount(coded ? 2 : 1, "k");
            row.assertCount(coded ? 1.5 : system.equals("two-copies") ? 2 : 1, "memory_overhead");
            if (fault.equals("crash")) {
                checkCrash(row);
            } else {
                checkNone(row);
            }
        }
        assertEquals(2 * 7 * 4, rows.size());
        assertEquals(rows.size(), names.size(), names::toString);
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(
                    List.of("resilience.json"),
                    files.map(file -> file.getFileName().toString()).toList());
        }
    }

    /** The means of a side stand in its row. */
    private static void checkMeans(Figures row) {
        row.assertCount(1, "threads");
        row.assertCount(1, "group");
        row.assertCount(row.text("fault").equals("crash") ? 2 : 1, "in_flight");
        boolean buffered = row.text("system").equals("ssd-backup");
        assertTrue(row.number("bytes_local") >= (buffered ? 256 * 4096 : 0), row::toString);
    }

    private static void checkBaseline(Figures row) {
        boolean ecCache = row.text("system").startsWith("ec-cache");
        boolean compressed = row.text("system").equals("compressed-copies-deflate");
        assertEquals("none", row.text("mode"), row::toString);
        row.assertCount(ecCache ? 2 : 1, "k");
        row.assertCount(ecCache || compressed ? 1 : 0, "r");
        row.assertCount(ecCache ? 1 : 0, "delta");
        double memory = row.number("memory_overhead");
        if (compressed) {
            // More than half of the written bytes cannot be compressed, and a quarter can.
            assertTrue(memory > 1 && memory < 2, row::toString);
        } else {
            assertEquals(ecCache ? 1.5 : 1, memory, row::toString);
        }
        row.assertNone("regenerate_ms");
        row.assertCount(0, "regeneration_bytes_rebuilt");
        if (row.text("fault").equals("none")) {
            checkRequested(row);
            checkRatios(row);
            checkWire(row, memory);
        }
    }

    /** Parts of pages move as whole pages, except with one copy; requests read and write all three splits. */
    private static void checkWire(Figures row, double memory) {
        double wire = row.number("wire_overhead");
        boolean part = row.number("size") == 64;
        boolean write = row.text("op").equals("write");
        switch (row.text("system")) {
            case "ssd-backup" -> assertEquals(1, wire, row::toString);
            case "ec-cache", "ec-cache+run-to-completion" ->
                assertEquals(part ? (write ? 3 : 1.5) * 4096 / 64 : 1.5, wire, row::toString);
            default -> {
                double page = write ? part ? 1.5 * memory : memory : memory / 2;
                double expected = part ? page * 4096 / 64 : page;
                assertEquals(expected, wire, expected / 20, row::toString);
            }
        }
    }

    @Test
    @Tag("full")
    void aBackgroundLoadAndBurstsLoseNothing() throws Exception {
        String against =
                "ec-cache+run-to-completion,ec-cache+in-place-coding,ec-cache+asynchronous-encoding,coded-k-of-k";
        Figures report = report(
                "--k",
                "2",
                "--r",
                "1",
                "--seconds",
                "0.1",
                "--beside",
                against,
                "--fault",
                "none,background,burst",
                "--burst",
                "8");
        List<Figures> rows = report.rows();
        assertEquals(3 * 7 * 4, rows.size());
        for (Figures row : rows) {
            checkSound(row);
            if (row.text("fault").equals("none") && row.number("size") > 64) {
                checkParts(row);
            }
            checkNone(row);
            row.assertCount(0, "unread_pages");
            if (row.text("fault").equals("burst")) {
                assertTrue(row.number("requests") >= 2 * 8, row::toString);
                assertEquals(0, row.number("requests") % 8, row::toString);
            }
        }
        assertEquals(8, report.number("burst"));
        // A piece is no larger than a region.
        assertEquals(64 << 10, report.number("background_piece"));
        report.assertThere("background_gbit_s");
    }

    /** The ratio to which each of Hydra's parts lowers a median, and late binding a read's tail; with the paper's. */
    private static void checkParts(Figures row) {
        boolean write = row.text("op").equals("write");
        switch (row.text("system")) {
            case "ec-cache+in-place-coding" -> checkPart(row, "ratio_p50_to_ec_cache_run_to_completion", 0.72);
            case "ec-cache+asynchronous-encoding" -> {
                if (write) {
                    checkPart(row, "ratio_p50_to_ec_cache_in_place_coding", 0.62);
                }
            }
            case "coded" -> {
                if (!write) {
                    checkPart(row, "ratio_p99_to_coded_k_of_k", 0.39);
                }
            }
            default -> {}
        }
    }

    private static void checkPart(Figures row, String ratio, double papers) {
        row.assertThere(ratio);
        assertEquals(papers, row.number("paper_" + ratio), 0.001, row::toString);
    }

    @Test
    @Tag("full")
    void regenerationAloneReadsKSlabsForEachThatItRebuilds() throws Exception {
        List<Figures> rows = rows(
                "--k", "2", "--r", "1", "--seconds", "0.1", "--fault", "regeneration,regenerating", "--slab", "256k");
        assertEquals(
                List.of("two-copies", "coded", "two-copies", "two-copies", "coded", "coded"),
                rows.stream().map(row -> row.text("system")).toList());
        rows.subList(2, 6).forEach(BenchResilienceTest::checkRegenerating);
        for (Figures row : rows.subList(0, 2)) {
            row.assertCount(2, "regenerate_times");
            // Each turn regenerates a slab.
            assertTrue(row.number("regeneration_bytes_rebuilt") >= 2 * (256 << 10), row::toString);
            assertTrue(row.number("regeneration_bytes_read") >= row.number("k") * 2 * (256 << 10), row::toString);
            row.assertThere("regenerate_ms", "memcpy_ms", "first_memcpy_ms");
            row.assertThere("ratio_to_memcpy", "ratio_to_first_memcpy", "ms_per_gib_read");
            row.assertCount(274, "paper_ms_per_gib_read");
            row.assertCount(0, "wrong_bytes");
            row.assertCount(0, "unread_pages");
        }
    }

    private static void checkRegenerating(Figures row) {
        assertEquals("regenerating", row.text("fault"), row::toString);
        for (String field : List.of("wrong_bytes", "unread_pages", "lost")) {
            row.assertCount(0, field);
        }
        checkRequested(row);
        row.assertThere("p50_ns", "p99_ns", "memcpy_p50_ns", "ratio_p50_to_memcpy", "ratio_p99_to_memcpy");
        if (row.text("system").equals("coded")) {
            row.assertCount(row.text("op").equals("write") ? 1.31 : 1.09, "paper_ratio_p50");
        }
    }

    /**
     * One server of each system cannot be reached for a while: requests for data that has another place continue, and
     * all data comes back. Each of two turns has servers of its own.
     */
    @Test
    @Needs(Need.SOFTVERBS)
    @Tag("full")
    void whatACutLeavesIsWholeAgainAndRight() throws Exception {
        List<Figures> rows = rows(
                "--k",
                "2",
                "--r",
                "1",
                "--seconds",
                "0.1",
                "--outages",
                "2",
                "--fault",
                "partition",
                "--partition-ms",
                "300");
        assertEquals(3 * 4, rows.size());
        for (Figures row : rows) {
            checkSound(row);
            row.assertCount(0, "unread_pages");
            if (row.text("system").equals("one-copy")) {
                row.assertNone("regenerate_ms");
            } else {
                // How many requests met the cut, and whether a write was one of them, is chance.
                row.assertCount(0, "lost");
                row.assertThere("requests", "regeneration_bytes_rebuilt");
            }
        }
    }

    /** One server makes bytes wrong: bare copies return them, and modes that correct do not. */
    @Test
    @Needs(Need.SOFTVERBS)
    @Tag("full")
    void whatCorrectsReturnsNoWrongByte() throws Exception {
        List<Figures> rows = rows(
                "--mode",
                "corruption-correction",
                "--k",
                "2",
                "--seconds",
                "0.1",
                "--beside",
                "ssd-backup,compressed-copies-deflate,ec-cache",
                "--fault",
                "straggler,corruption",
                "--stragglers",
                "all",
                "--corrupt",
                "0.5");
        // EC-Cache also runs as a client that polls.
        assertEquals(7 * 2 * 4, rows.size());
        long wrongOfOneCopy = 0;
        for (Figures row : rows) {
            if (row.text("system").equals("coded")) {
                assertEquals("corruption-correction", row.text("mode"));
                row.assertCount(3, "r");
                row.assertCount(0, "wrong_bytes");
                row.assertCount(0, "corrupt");
            } else if (row.text("fault").equals("corruption")) {
                wrongOfOneCopy += row.text("system").equals("one-copy") ? (long) row.number("wrong_bytes") : 0;
            } else {
                row.assertCount(0, "wrong_bytes");
            }
        }
        assertTrue(wrongOfOneCopy > 0, rows::toString);
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {
            {"--mode", "best"},
            {"--k", "17"},
            {"--r", "5"},
            {"--delta", "3"},
            {"--beside", "three-copies"},
            {"--fault", "flood"},
            {"--seconds", "0"},
            {"--turns", "0"},
            {"--bytes", "1k"},
            {"--straggler", "2:1"},
            {"--beside", "ssd-backup", "--directory", "absent"},
            {"--stragglers", "some"},
            {"--corrupt", "0"},
            {"--background", "1k"},
            {"--background", "2m"},
            {"--burst", "1"},
            {"--outages", "0"},
            {"--slab", "3m"},
            {"--partition-ms", "0"}
        }) {
            List<String> arguments = new ArrayList<>(List.of("bench", "resilience"));
            arguments.addAll(List.of(wrong));
            assertEquals(1, Main.commandLine().execute(arguments.toArray(String[]::new)), arguments::toString);
        }
        // Requests of a burst are to different pages.
        String[] fewPages = {"bench", "resilience", "--fault", "burst", "--bytes", "32k"};
        assertEquals(1, Main.commandLine().execute(fewPages));
    }
}
