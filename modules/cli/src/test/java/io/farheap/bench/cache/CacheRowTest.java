package io.farheap.bench.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.Validity;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

/** Rows of {@code bench cache}: the gains of batches over both ways without them. */
class CacheRowTest {

    private static final CacheRow.Batches BATCHES =
            new CacheRow.Batches(8, 2, rate(60e6), rate(90e6), new SideSetup(512, 2, 24, 1), 8);

    private static Quartiles rate(double median) {
        return new Quartiles(0.9 * median, median, 1.1 * median);
    }

    private static JsonObject json(CacheRow.Batches batches, Validity validity) {
        Histogram times = new Histogram(1_000_000, 3);
        times.recordValue(100);
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench cache");
        new CacheRow(
                        "read",
                        16,
                        65536,
                        new CacheBench.Latency(times, times),
                        rate(10e6),
                        rate(20e6),
                        rate(75e6),
                        new SideSetup(256, 1, 16, 1),
                        16,
                        batches,
                        5,
                        true,
                        validity)
                .put(report.row());
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void gainsAreOverSinglePostsOverListsAndOverTheBetter() {
        JsonObject row = json(BATCHES, Validity.NO_MODEL);
        assertEquals(6, row.get("batched_over_single").getAsDouble());
        assertEquals(9, row.get("batched_all_over_single").getAsDouble());
        assertEquals(3, row.get("batched_over_list").getAsDouble());
        assertEquals(4.5, row.get("batched_all_over_list").getAsDouble());
        assertEquals(3, row.get("batched_over_best").getAsDouble());
        assertEquals(4.5, row.get("batched_all_over_best").getAsDouble());
        assertEquals(0.4, row.get("batched_in_flight_us").getAsDouble());
    }

    /** Asking by groups saves calls without a server thread, too. */
    @Test
    void batchesThatAreAskedForByGroupsAreComparedWithListsThatAre() {
        JsonObject row = json(BATCHES, Validity.NO_MODEL);
        assertEquals(75e6, row.get("list_all_ops_per_s").getAsDouble());
        assertEquals(3.75, row.get("list_all_over_list").getAsDouble());
        assertEquals(1.2, row.get("batched_all_over_list_all").getAsDouble());
        assertEquals(16, row.get("list_all_group").getAsInt());
    }

    @Test
    void theSidesDoNotHaveEqualMeansAndTheRowSaysSo() {
        JsonObject row = json(BATCHES, Validity.NO_MODEL);
        assertEquals(1, row.get("cores").getAsInt());
        assertEquals(2, row.get("batched_cores").getAsInt());
        assertEquals(16, row.get("in_flight").getAsInt());
        assertEquals(24, row.get("batched_in_flight").getAsInt());
        assertEquals(1, row.get("group").getAsInt());
        assertEquals(16, row.get("list_group").getAsInt());
        assertEquals(8, row.get("batched_all_group").getAsInt());
        assertEquals(256, row.get("bytes_local").getAsLong());
        assertEquals(512, row.get("batched_bytes_local").getAsLong());
    }

    @Test
    void anInvalidRowHasRatesAndNoRatio() {
        JsonObject row = json(BATCHES, new Validity(73));
        assertTrue(row.get("invalid").getAsBoolean());
        assertEquals(60e6, row.get("batched_ops_per_s").getAsDouble());
        for (String field : row.keySet()) {
            assertEquals(field.contains("_over_"), row.get(field).isJsonNull(), field);
        }
    }

    @Test
    void largeRecordsHaveNoBatches() {
        JsonObject row = json(null, Validity.NO_MODEL);
        assertFalse(row.has("batch"));
        assertFalse(row.has("batched_over_best"));
        assertEquals(2, row.get("list_over_single").getAsDouble());
    }
}
