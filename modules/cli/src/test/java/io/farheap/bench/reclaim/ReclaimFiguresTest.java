package io.farheap.bench.reclaim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.migration.MigrationResult;
import org.junit.jupiter.api.Test;

/** A reclaim is compared with bare migrations by medians over all turns. */
class ReclaimFiguresTest {

    private static final long GIB = 1L << 30;

    @Test
    void aRatioIsThatOfTheMedians() {
        ReclaimFigures figures = new ReclaimFigures();
        turn(figures, 1000, 100);
        turn(figures, 400, 300);
        turn(figures, 500, 50);
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench reclaim");
        ReclaimFigures.put(report.row(), figures, figures);
        JsonObject row = JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
        // Times are the inverse of rates, so the ratio is 100 / 500; the median of the turns' ratios is 0.1.
        assertEquals(0.2, figures.ratio(), 1e-9);
        assertEquals(0.2, row.get("ratio").getAsDouble());
        assertEquals(0.1, row.get("least_ratio").getAsDouble());
        assertEquals(0.75, row.get("most_ratio").getAsDouble());
        assertEquals(0.4, row.get("call_ratio").getAsDouble());
    }

    /** Adds a reclaim of a GiB, and a bare migration of which the copy is half of the whole. */
    private static void turn(ReclaimFigures figures, long reclaimMillis, long bareMillis) {
        long millis = 1_000_000;
        MigrationResult bare = new MigrationResult(1, GIB, bareMillis * millis, 2 * bareMillis * millis, 0);
        long begun = millis;
        long left = begun + reclaimMillis * millis;
        ReclaimTimes times = new ReclaimTimes(begun, begun, begun, left, left, bare, 0, false);
        figures.addBare(bare, 0);
        figures.addReclaim(times, bare);
    }
}
