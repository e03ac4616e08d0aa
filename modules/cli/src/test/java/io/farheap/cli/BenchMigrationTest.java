package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.against.ComparedRows;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench migration}, small: the content of its report. Its figures are for a quiet machine. */
class BenchMigrationTest {

    @TempDir
    Path directory;

    private int run(String... arguments) {
        List<String> all = new ArrayList<>(List.of("bench", "migration"));
        all.addAll(List.of(arguments));
        return Main.commandLine().execute(all.toArray(String[]::new));
    }

    @Test
    @Tag("full")
    void everyCaseHasARow() throws Exception {
        Path json = directory.resolve("migration.json");
        assertEquals(
                0,
                run(
                        "--regions",
                        "3",
                        "--region",
                        "1m",
                        "--move",
                        "1,2",
                        "--repeat",
                        "2",
                        "--json",
                        json.toString(),
                        "--report",
                        directory.toString()));
        Figures report = Figures.read(json);
        assertTrue(report.text("command").contains("bench migration"));
        List<String> cases = new ArrayList<>();
        for (Figures row : report.rows()) {
            int regions = row.count("regions");
            assertTrue(regions == 0 || ComparedRows.MIGRATION.describes(row.fields()), row::toString);
            cases.add(regions + " " + row.text("pause") + " " + row.flag("unpaused_reads"));
            row.assertThere("longest_read_stall_us", "longest_write_pause_us");
            // Rates are not negative, so none drops by more than 100%.
            for (String drop :
                    List.of("read_drop_pct", "write_drop_pct", "memcpy_read_drop_pct", "memcpy_write_drop_pct")) {
                assertTrue(row.number(drop) <= 100, row::toString);
            }
            if (regions > 0) {
                row.assertThere("gib_per_s", "memcpy_gib_per_s", "migration_ms");
            }
        }
        assertEquals(
                List.of(
                        "0 none true",
                        "1 cache true",
                        "2 cache true",
                        "1 cache false",
                        "2 cache false",
                        "1 region true",
                        "2 region true",
                        "1 region false",
                        "2 region false",
                        "1 chunk true",
                        "2 chunk true",
                        "1 chunk false",
                        "2 chunk false"),
                cases);
        for (String plot : List.of("migration-reads.png", "migration-writes.png", "migration-pauses.png")) {
            assertTrue(Files.size(directory.resolve(plot)) > 0, plot);
        }
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        assertEquals(1, run("--move", "8"));
        assertEquals(1, run("--repeat", "0"));
        assertEquals(1, run("--chunk", "1000"));
        assertEquals(2, run("--pause", "nothing"));
    }
}
