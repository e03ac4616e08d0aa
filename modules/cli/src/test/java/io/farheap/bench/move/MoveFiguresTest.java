package io.farheap.bench.move;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Validity;
import io.farheap.command.Plot;
import io.farheap.migration.MigrationOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows of moves: the rate is of the whole move, and a drop stands beside the requests that it costs. */
class MoveFiguresTest {

    private static final long REGION = 64 << 20;

    @TempDir
    private Path directory;

    private static MoveFigures figures(double forgone, double memcpyForgone, boolean settled, Validity validity) {
        return new MoveFigures(
                new Quartiles(24, 26, 28),
                31,
                1e6,
                4000,
                5000,
                100,
                8,
                new Quartiles(1.2, 1.3, 1.4),
                188,
                11,
                forgone,
                memcpyForgone,
                settled,
                validity);
    }

    private static JsonObject row(int moved, MoveFigures reads, MoveFigures writes) {
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench migration");
        MoveFigures.row(report, new MoveCase(moved, MigrationOptions.DEFAULT), REGION, reads, writes);
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void theRatioToMemcpyIsOfTheWholeMove() {
        MoveFigures figures = figures(700, 100, true, Validity.NO_MODEL);
        JsonObject row = row(4, figures, figures);
        assertEquals(8, row.get("gib_per_s").getAsDouble());
        assertEquals(1.3, row.get("whole_gib_per_s").getAsDouble());
        assertEquals(0.118, row.get("whole_over_memcpy").getAsDouble());
        assertEquals(4, row.get("group").getAsInt());
        assertEquals(0, row.get("bytes_local").getAsLong());
        assertEquals(2 * REGION, row.get("memcpy_bytes_local").getAsLong());
        assertTrue(row.get("settled").getAsBoolean());
    }

    @Test
    void theRequestsThatAMoveCostsAreComparedWithThoseOfTheMemcpy() {
        JsonObject row =
                row(4, figures(700, 100, true, Validity.NO_MODEL), figures(300, 100, false, Validity.NO_MODEL));
        assertEquals(700, row.get("forgone_reads").getAsDouble());
        assertEquals(100, row.get("memcpy_forgone_reads").getAsDouble());
        assertEquals(7, row.get("forgone_reads_over_memcpy").getAsDouble());
        assertEquals(3, row.get("forgone_writes_over_memcpy").getAsDouble());
        assertFalse(row.get("settled").getAsBoolean(), "the writes had not settled");
    }

    /** A memcpy's window repeats the copy, so that its rate is one of many time slices. */
    @Test
    void theRequestsThatAMemcpyCostsAreThoseOfOneCopy() {
        assertEquals(20, LoadWindow.forgone(1_000_000, 750_000, 80_000), 1e-9);
        assertEquals(-20, LoadWindow.forgone(750_000, 1_000_000, 80_000), 1e-9);
    }

    @Test
    void aCopyThatCostsNothingHasNoRatio() {
        MoveFigures figures = figures(700, -5, true, Validity.NO_MODEL);
        JsonObject row = row(4, figures, figures);
        assertEquals(-5, row.get("memcpy_forgone_reads").getAsDouble());
        assertTrue(row.get("forgone_reads_over_memcpy").isJsonNull());
    }

    @Test
    void anInvalidRowHasNoComparison() {
        JsonObject row = row(4, figures(700, 100, true, Validity.NO_MODEL), figures(700, 100, true, new Validity(2)));
        assertTrue(row.get("invalid").getAsBoolean());
        assertEquals(1.3, row.get("whole_gib_per_s").getAsDouble());
        for (String field : List.of(
                "read_drop_pct",
                "write_drop_pct",
                "memcpy_read_drop_pct",
                "memcpy_write_drop_pct",
                "whole_over_memcpy",
                "forgone_reads_over_memcpy",
                "forgone_writes_over_memcpy")) {
            assertTrue(row.get(field).isJsonNull(), field);
        }
    }

    @Test
    void plotsAreOfValidFigures() {
        MovePlots plots = new MovePlots();
        MoveFigures invalid = figures(700, 100, true, new Validity(2));
        plots.add(new MoveCase(4, MigrationOptions.DEFAULT), invalid, invalid);
        assertEquals(0, plots.plots("migration", "regions move").length);
    }

    @Test
    void anInvalidCaseKeepsItsPlaceInAPlot() throws Exception {
        MovePlots plots = new MovePlots();
        MoveFigures valid = figures(700, 100, true, Validity.NO_MODEL);
        MoveFigures invalid = figures(700, 100, true, new Validity(2));
        plots.add(new MoveCase(0, MigrationOptions.DEFAULT), valid, valid);
        plots.add(new MoveCase(1, MigrationOptions.DEFAULT), invalid, valid);
        plots.add(new MoveCase(2, MigrationOptions.DEFAULT), valid, valid);
        plots.add(new MoveCase(4, MigrationOptions.DEFAULT), valid, invalid);
        List<MovePlots.Result> results = plots.results().values().iterator().next();
        assertEquals(Arrays.asList(null, 26.0, null), MovePlots.bars(results, result -> result.reads()
                .dropPercent()));
        assertEquals(Arrays.asList(null, 4000.0, null), MovePlots.bars(results, result -> result.writes()
                .longestMicros()));
        for (Plot plot : plots.plots("migration", "regions move")) {
            plot.write(directory, List.of("device soft0 (soft)"));
        }
        assertTrue(Files.size(directory.resolve("migration-pauses.png")) > 0);
    }
}
