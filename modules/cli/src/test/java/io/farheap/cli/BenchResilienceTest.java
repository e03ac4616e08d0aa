package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench resilience}, small: what its rows hold, and that no byte is wrong that nobody made wrong. */
class BenchResilienceTest {

    @TempDir
    Path directory;

    private List<JsonObject> rows(String... options) throws Exception {
        return rows(report(options));
    }

    private static List<JsonObject> rows(JsonObject report) {
        List<JsonObject> rows = new ArrayList<>();
        for (JsonElement row : report.getAsJsonArray("rows")) {
            rows.add(row.getAsJsonObject());
        }
        return rows;
    }

    private JsonObject report(String... options) throws Exception {
        Path json = directory.resolve("resilience.json");
        List<String> arguments = new ArrayList<>(List.of("bench", "resilience", "--bytes", "128k", "--turns", "2"));
        arguments.addAll(List.of("--json", json.toString()));
        arguments.addAll(List.of(options));
        List<String> filesBefore = ProcessResources.sharedMemoryFiles();
        CommandProcess command = CommandProcess.start(Map.of(), arguments.toArray(String[]::new));
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        assertEquals(filesBefore, ProcessResources.sharedMemoryFiles());
        return JsonParser.parseString(Files.readString(json)).getAsJsonObject();
    }

    private static String text(JsonObject row, String field) {
        return row.get(field).getAsString();
    }

    private static double number(JsonObject row, String field) {
        return row.get(field).getAsDouble();
    }

    private static void checkSound(JsonObject row) {
        assertEquals(0, number(row, "wrong_bytes"), row::toString);
        assertEquals(0, number(row, "corrupt"), row::toString);
        assertTrue(number(row, "stall_us") > 0, row::toString);
        double lost = number(row, "loss_probability");
        assertTrue(text(row, "system").equals("one-copy") ? lost == 1 : lost > 0 && lost < 1, row::toString);
        for (String field : List.of("cpu_ns", "cpu_overhead", "unread_pages", "regenerate_ms")) {
            assertTrue(row.has(field), row::toString);
        }
    }

    private static void checkNone(JsonObject row) {
        assertEquals(0, number(row, "lost"), row::toString);
        assertTrue(number(row, "requests") > 0, row::toString);
        for (String figure : List.of("p50_ns", "p99_ns", "p999_ns", "cpu_ns")) {
            assertTrue(number(row, figure) > 0, row::toString);
        }
        checkRatios(row);
        boolean write = text(row, "op").equals("write");
        // Of a page that is written all splits and parity are sent, and nothing is read.
        if (text(row, "system").equals("coded") && write && number(row, "size") > 64) {
            assertEquals(1.5, number(row, "wire_overhead"), row::toString);
        } else {
            assertTrue(number(row, "wire_overhead") >= 1, row::toString);
        }
    }

    /** They are there whatever was asked for: of a read to one copy, of a write to two. */
    private static void checkRatios(JsonObject row) {
        String baseline = text(row, "op").equals("write") ? "two-copies" : "one-copy";
        for (String field : List.of("ratio_p50", "ratio_p99", "cpu_overhead")) {
            double ratio = number(row, field);
            assertTrue(text(row, "system").equals(baseline) ? ratio == 1 : ratio > 0, row::toString);
        }
    }

    private static void checkCrash(JsonObject row) {
        if (text(row, "system").equals("one-copy")) {
            assertTrue(row.get("regenerate_ms").isJsonNull(), row::toString);
            return;
        }
        assertEquals(0, number(row, "lost"), row::toString);
        assertTrue(number(row, "regenerate_ms") > 0, row::toString);
        assertEquals(1, number(row, "regenerate_times"), row::toString);
        if (text(row, "system").equals("coded") && number(row, "size") > 64) {
            assertEquals(1, number(row, "paper_ratio_p99_to_two_copies"), row::toString);
            assertEquals("figure 12b", text(row, "paper_figure"));
        }
        assertTrue(number(row, "regeneration_bytes_rebuilt") > 0, row::toString);
        assertTrue(number(row, "regeneration_bytes_read") >= number(row, "regeneration_bytes_rebuilt"), row::toString);
    }

    @Test
    void eachSystemHasARowForEachRequestAndNothingIsWrong() throws Exception {
        String against = "ssd-backup,compressed-copies,ec-cache";
        List<JsonObject> rows = rows(
                "--k",
                "2",
                "--r",
                "1",
                "--seconds",
                "0.1",
                "--against",
                against,
                "--directory",
                directory.toString(),
                "--outages",
                "1",
                "--fault",
                "none,crash");
        Set<String> names = new HashSet<>();
        for (JsonObject row : rows) {
            String system = text(row, "system");
            String fault = text(row, "fault");
            names.add(fault + " " + system + " " + text(row, "op") + " " + text(row, "size"));
            if (against.contains(system)) {
                assertEquals(0, number(row, "wrong_bytes"), row::toString);
                assertEquals(0, number(row, "corrupt"), row::toString);
                assertEquals(0, number(row, "lost"), row::toString);
                checkBaseline(row);
                continue;
            }
            checkSound(row);
            boolean coded = system.equals("coded");
            assertEquals(coded ? 2 : 1, number(row, "k"), row::toString);
            assertEquals(
                    coded ? 1.5 : system.equals("two-copies") ? 2 : 1, number(row, "memory_overhead"), row::toString);
            if (fault.equals("crash")) {
                checkCrash(row);
            } else {
                checkNone(row);
            }
        }
        assertEquals(2 * 6 * 4, rows.size());
        assertEquals(rows.size(), names.size(), names::toString);
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(
                    List.of("resilience.json"),
                    files.map(file -> file.getFileName().toString()).toList());
        }
    }

    private static void checkBaseline(JsonObject row) {
        boolean ecCache = text(row, "system").equals("ec-cache");
        boolean compressed = text(row, "system").equals("compressed-copies");
        assertEquals("none", text(row, "mode"), row::toString);
        assertEquals(ecCache ? 2 : 1, number(row, "k"), row::toString);
        assertEquals(ecCache || compressed ? 1 : 0, number(row, "r"), row::toString);
        assertEquals(ecCache ? 1 : 0, number(row, "delta"), row::toString);
        double memory = number(row, "memory_overhead");
        if (compressed) {
            // Of what is written more than half cannot be compressed, and a quarter can.
            assertTrue(memory > 1 && memory < 2, row::toString);
        } else {
            assertEquals(ecCache ? 1.5 : 1, memory, row::toString);
        }
        assertTrue(row.get("regenerate_ms").isJsonNull(), row::toString);
        assertEquals(0, number(row, "regeneration_bytes_rebuilt"), row::toString);
        if (text(row, "fault").equals("none")) {
            assertTrue(number(row, "requests") > 0, row::toString);
            checkRatios(row);
            checkWire(row, memory);
        }
    }

    /** Parts of pages move as whole ones, but those of one copy; all three splits are asked, and all are written. */
    private static void checkWire(JsonObject row, double memory) {
        double wire = number(row, "wire_overhead");
        boolean part = number(row, "size") == 64;
        boolean write = text(row, "op").equals("write");
        switch (text(row, "system")) {
            case "ssd-backup" -> assertEquals(1, wire, row::toString);
            case "ec-cache" -> assertEquals(part ? (write ? 3 : 1.5) * 4096 / 64 : 1.5, wire, row::toString);
            default -> {
                double page = write ? part ? 1.5 * memory : memory : memory / 2;
                double expected = part ? page * 4096 / 64 : page;
                assertEquals(expected, wire, expected / 20, row::toString);
            }
        }
    }

    @Test
    void aBackgroundLoadAndBurstsLoseNothing() throws Exception {
        String against =
                "ec-cache+run-to-completion,ec-cache+in-place-coding,ec-cache+asynchronous-encoding,coded-k-of-k";
        JsonObject report = report(
                "--k",
                "2",
                "--r",
                "1",
                "--seconds",
                "0.1",
                "--against",
                against,
                "--fault",
                "none,background,burst",
                "--burst",
                "8");
        List<JsonObject> rows = rows(report);
        assertEquals(3 * 7 * 4, rows.size());
        for (JsonObject row : rows) {
            checkSound(row);
            if (text(row, "fault").equals("none") && number(row, "size") > 64) {
                checkParts(row);
            }
            checkNone(row);
            assertEquals(0, number(row, "unread_pages"), row::toString);
            if (text(row, "fault").equals("burst")) {
                assertTrue(number(row, "requests") >= 2 * 8, row::toString);
                assertEquals(0, number(row, "requests") % 8, row::toString);
            }
        }
        assertEquals(8, number(report, "burst"));
        // No more than a region.
        assertEquals(64 << 10, number(report, "background_piece"));
        assertTrue(number(report, "background_gbit_s") >= 0, report::toString);
    }

    /** What each of Hydra's parts leaves of a median, and late binding of a read's tail, beside the paper's. */
    private static void checkParts(JsonObject row) {
        boolean write = text(row, "op").equals("write");
        switch (text(row, "system")) {
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

    private static void checkPart(JsonObject row, String ratio, double papers) {
        assertTrue(number(row, ratio) > 0, row::toString);
        assertEquals(papers, number(row, "paper_" + ratio), 0.001, row::toString);
    }

    @Test
    void regenerationAloneReadsKSlabsForEachThatItRebuilds() throws Exception {
        List<JsonObject> rows = rows(
                "--k", "2", "--r", "1", "--seconds", "0.1", "--fault", "regeneration,regenerating", "--slab", "256k");
        assertEquals(
                List.of("two-copies", "coded", "two-copies", "two-copies", "coded", "coded"),
                rows.stream().map(row -> text(row, "system")).toList());
        rows.subList(2, 6).forEach(BenchResilienceTest::checkRegenerating);
        for (JsonObject row : rows.subList(0, 2)) {
            assertEquals(2, number(row, "regenerate_times"), row::toString);
            // Of each turn a slab.
            assertTrue(number(row, "regeneration_bytes_rebuilt") >= 2 * (256 << 10), row::toString);
            assertTrue(number(row, "regeneration_bytes_read") >= number(row, "k") * 2 * (256 << 10), row::toString);
            for (String field : List.of(
                    "regenerate_ms", "memcpy_ms", "first_memcpy_ms", "ratio_to_first_memcpy", "ms_per_gib_read")) {
                assertTrue(number(row, field) > 0, row::toString);
            }
            assertTrue(row.has("ratio_to_memcpy"), row::toString);
            assertEquals(274, number(row, "paper_ms_per_gib_read"), row::toString);
            assertEquals(0, number(row, "wrong_bytes"), row::toString);
            assertEquals(0, number(row, "unread_pages"), row::toString);
        }
    }

    private static void checkRegenerating(JsonObject row) {
        assertEquals("regenerating", text(row, "fault"), row::toString);
        for (String field : List.of("wrong_bytes", "unread_pages", "lost")) {
            assertEquals(0, number(row, field), row::toString);
        }
        for (String field : List.of(
                "requests", "p50_ns", "p99_ns", "memcpy_p50_ns", "ratio_p50_to_memcpy", "ratio_p99_to_memcpy")) {
            assertTrue(number(row, field) > 0, row::toString);
        }
        if (text(row, "system").equals("coded")) {
            assertEquals(text(row, "op").equals("write") ? 1.31 : 1.09, number(row, "paper_ratio_p50"), row::toString);
        }
    }

    /**
     * One server of each system cannot be reached for a while: what has another place goes on, and all comes back.
     * Twice, each time with servers of its own.
     */
    @Test
    @Needs(Need.SOFTVERBS)
    void whatACutLeavesIsWholeAgainAndRight() throws Exception {
        List<JsonObject> rows = rows(
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
        for (JsonObject row : rows) {
            checkSound(row);
            assertEquals(0, number(row, "unread_pages"), row::toString);
            if (text(row, "system").equals("one-copy")) {
                assertTrue(row.get("regenerate_ms").isJsonNull(), row::toString);
            } else {
                assertEquals(0, number(row, "lost"), row::toString);
                assertTrue(number(row, "requests") > 0, row::toString);
                // Else no write met the cut.
                if (number(row, "regeneration_bytes_rebuilt") > 0) {
                    assertTrue(number(row, "regenerate_ms") > 0, row::toString);
                }
            }
        }
    }

    /** What one server makes wrong: bare copies return it, and what corrects does not. */
    @Test
    @Needs(Need.SOFTVERBS)
    void whatCorrectsReturnsNoWrongByte() throws Exception {
        List<JsonObject> rows = rows(
                "--mode",
                "corruption-correction",
                "--k",
                "2",
                "--seconds",
                "0.1",
                "--against",
                "ssd-backup,compressed-copies,ec-cache",
                "--fault",
                "straggler,corruption",
                "--stragglers",
                "all",
                "--corrupt",
                "0.05");
        assertEquals(6 * 2 * 4, rows.size());
        long wrongOfOneCopy = 0;
        for (JsonObject row : rows) {
            if (text(row, "system").equals("coded")) {
                assertEquals("corruption-correction", text(row, "mode"));
                assertEquals(3, number(row, "r"), row::toString);
                assertEquals(0, number(row, "wrong_bytes"), row::toString);
                assertEquals(0, number(row, "corrupt"), row::toString);
            } else if (text(row, "fault").equals("corruption")) {
                wrongOfOneCopy += text(row, "system").equals("one-copy") ? (long) number(row, "wrong_bytes") : 0;
            } else {
                assertEquals(0, number(row, "wrong_bytes"), row::toString);
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
            {"--against", "three-copies"},
            {"--fault", "flood"},
            {"--seconds", "0"},
            {"--turns", "0"},
            {"--bytes", "1k"},
            {"--straggler", "2:1"},
            {"--against", "ssd-backup", "--directory", "absent"},
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
