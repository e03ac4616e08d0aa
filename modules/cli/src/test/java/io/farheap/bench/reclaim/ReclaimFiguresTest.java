package io.farheap.bench.reclaim;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.move.LostContent;
import io.farheap.bench.report.BenchReport;
import io.farheap.migration.MigrationResult;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A reclaim is compared with bare migrations by medians over all turns, and a loss is a figure as any other. */
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
        JsonObject row = only(report);
        // Times are the inverse of rates, so the ratio is 100 / 500; the median of the turns' ratios is 0.1.
        assertEquals(0.2, figures.ratio(), 1e-9);
        assertEquals(0.2, row.get("ratio").getAsDouble());
        assertEquals(0.1, row.get("least_ratio").getAsDouble());
        assertEquals(0.75, row.get("most_ratio").getAsDouble());
        assertEquals(0.4, row.get("call_ratio").getAsDouble());
    }

    @Test
    void aLossIsAResultAndTheTimesAreThoseOfTheOtherReclaims() {
        ReclaimFigures figures = new ReclaimFigures();
        ReclaimTimes whole =
                new ReclaimTimes(1_000_000, 2_000_000, 3_000_000, 11_000_000, 12_000_000, moved(), 0, false);
        ReclaimTimes killed = new ReclaimTimes(1_000_000, 0, 0, 0, 0, MigrationResult.NONE, 4, true);
        figures.addReclaim(whole);
        figures.addLost(LostContent.NONE);
        figures.addReclaim(killed);
        figures.addLost(new LostContent(3_000, 2));
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench reclaim --deadline");
        figures.putDeadline(report.row());
        JsonObject row = only(report);
        assertEquals(2, row.get("reclaims").getAsInt());
        assertEquals(1, row.get("lost_reclaims").getAsInt());
        assertEquals(3_000, row.get("lost_bytes").getAsLong());
        assertEquals(2, row.get("lost_regions").getAsInt());
        assertEquals(1, row.get("killed").getAsInt());
        assertEquals(10, row.get("reclaim_ms").getAsDouble());
        assertEquals(10, row.get("longest_reclaim_ms").getAsDouble());
        assertEquals(
                "DATA WAS LOST: 1 of 2 reclaims have lost 3,000 bytes in 2 regions",
                ReclaimFigures.warning(figures).orElseThrow());
    }

    @Test
    void failedRequestsOfAWholeCacheAreAResult() {
        ReclaimFigures figures = new ReclaimFigures();
        figures.addLost(LostContent.NONE);
        assertEquals(Optional.empty(), ReclaimFigures.warning(figures, figures));
        figures.addFailed(7);
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench reclaim --deadline");
        figures.putDeadline(report.row());
        assertEquals(7, only(report).get("failed_requests").getAsLong());
        assertEquals(
                "REQUESTS FAILED: 7, in caches that had lost nothing",
                ReclaimFigures.warning(figures).orElseThrow());
    }

    private static MigrationResult moved() {
        return new MigrationResult(4, GIB, 1_000_000, 2_000_000, 0);
    }

    private static JsonObject only(BenchReport report) {
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
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
