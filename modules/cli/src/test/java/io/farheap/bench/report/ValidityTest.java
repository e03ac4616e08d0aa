package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A row with over 1% late operations has no ratio. */
class ValidityTest {

    private static final Validity VALID = new Validity(1);
    private static final Validity INVALID = new Validity(1.01);

    private static JsonObject row(Validity validity, boolean settled) {
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench");
        BenchReport.Row row = report.row().put("ratio", MedianRatio.ofTimes(validity, 20, 10));
        validity.put(row, settled);
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void aValidRowHasItsRatio() {
        JsonObject row = row(VALID, true);
        assertEquals(List.of("ratio", "settled", "late_pct", "invalid"), List.copyOf(row.keySet()));
        assertEquals(2, row.get("ratio").getAsDouble());
        assertTrue(row.get("settled").getAsBoolean());
        assertFalse(row.get("invalid").getAsBoolean());
        assertEquals("", VALID.remark(true));
        assertEquals("not settled", VALID.remark(false));
    }

    @Test
    void anInvalidRowHasNone() {
        JsonObject row = row(INVALID, false);
        assertTrue(row.get("ratio").isJsonNull());
        assertEquals(1.01, row.get("late_pct").getAsDouble());
        assertTrue(row.get("invalid").getAsBoolean());
        assertFalse(row.get("settled").getAsBoolean());
        assertEquals("INVALID: 1.01% late, not settled", INVALID.remark(false));
    }

    @Test
    void theWorsePartDecides() {
        assertEquals(INVALID, VALID.worse(INVALID));
        assertEquals(INVALID, INVALID.worse(Validity.NO_MODEL));
    }

    @Test
    void aRatioIsToTheBestOther() {
        assertEquals(2, MedianRatio.ofTimes(VALID, 20, 10, 15, Double.NaN));
        assertEquals(0.5, MedianRatio.ofRates(VALID, 20, 10, 40, Double.NaN));
        assertTrue(Double.isNaN(MedianRatio.ofRates(VALID, 20, Double.NaN)));
        assertTrue(Double.isNaN(MedianRatio.ofRates(INVALID, 20, 10)));
    }

    @Test
    void eachProcessCountsForItself() {
        ModelLateness.Counts client = new ModelLateness.Counts(1_000_000, 0);
        ModelLateness.Counts server = new ModelLateness.Counts(1_000, 20);
        assertEquals(new Validity(2), ModelLateness.validity(List.of(client, server)));
        assertEquals(new Validity(0), ModelLateness.validity(List.of(client)));
    }

    @Test
    void aSingleLateOperationDoesNotMakeARowInvalid() {
        assertFalse(
                ModelLateness.validity(List.of(new ModelLateness.Counts(3, 1))).invalid());
        assertTrue(
                ModelLateness.validity(List.of(new ModelLateness.Counts(3, 2))).invalid());
    }

    @Test
    void countsAreOfTheTimeBetween() {
        assertEquals(
                new ModelLateness.Counts(5, 1), new ModelLateness.Counts(12, 3).since(new ModelLateness.Counts(7, 2)));
    }
}
