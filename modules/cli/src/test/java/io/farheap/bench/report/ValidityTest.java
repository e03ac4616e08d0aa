package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A row with over 1% late operations has no ratio, and a row of READs alone is not judged. */
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
    void aRowOfReadsAloneIsNotJudged() {
        ModelLateness.Counts reads = counts(0, 0);
        Validity validity = ModelLateness.validity(List.of(reads, reads));
        assertEquals(Validity.NOT_JUDGED, validity);
        assertFalse(validity.judged());
        assertFalse(validity.invalid());
        JsonObject row = row(validity, true);
        assertTrue(row.get("late_pct").isJsonNull());
        assertFalse(row.get("invalid").getAsBoolean());
        assertEquals(2, row.get("ratio").getAsDouble());
        assertEquals("not judged: READs alone", validity.remark(true));
        assertEquals("not judged: READs alone, not settled", validity.remark(false));
    }

    @Test
    void aProcessThatPostsOtherOperationsJudgesTheRow() {
        assertEquals(new Validity(0), ModelLateness.validity(List.of(counts(0, 0), counts(1_000, 0))));
        assertEquals(new Validity(2), ModelLateness.validity(List.of(counts(0, 0), counts(1_000, 20))));
    }

    @Test
    void withoutAModelThereIsNothingToJudge() {
        ModelLateness.Counts none = new ModelLateness.Counts(false, 0, 0);
        assertEquals(Validity.NO_MODEL, ModelLateness.validity(List.of(none, none)));
        assertEquals(Validity.NOT_JUDGED, ModelLateness.validity(List.of(none, counts(0, 0))));
    }

    @Test
    void aPartThatWasNotJudgedLeavesTheRowSo() {
        assertEquals(Validity.NOT_JUDGED, VALID.worse(Validity.NOT_JUDGED));
        assertEquals(Validity.NOT_JUDGED, Validity.NOT_JUDGED.worse(VALID));
        assertEquals(Validity.NOT_JUDGED, Validity.NO_MODEL.worse(Validity.NOT_JUDGED));
        assertEquals(Validity.NOT_JUDGED, Validity.NOT_JUDGED.worse(Validity.NOT_JUDGED));
        assertEquals(INVALID, INVALID.worse(Validity.NOT_JUDGED));
        assertEquals(INVALID, Validity.NOT_JUDGED.worse(INVALID));
    }

    @Test
    void aRowIsReadAsItWasWritten() {
        for (Validity validity : List.of(Validity.NO_MODEL, VALID, INVALID, Validity.NOT_JUDGED)) {
            assertEquals(validity, Validity.read(row(validity, true)));
        }
    }

    @Test
    void aPercentageThatIsRoundedToTheLimitIsInvalid() {
        JsonObject row = row(new Validity(1.0004), true);
        assertEquals(1, row.get("late_pct").getAsDouble());
        assertTrue(Validity.read(row).invalid());
        assertEquals("INVALID: 1.00% late", Validity.read(row).remark(true));
    }

    @Test
    void eachProcessCountsForItself() {
        ModelLateness.Counts client = counts(1_000_000, 0);
        ModelLateness.Counts server = counts(1_000, 20);
        assertEquals(new Validity(2), ModelLateness.validity(List.of(client, server)));
        assertEquals(new Validity(0), ModelLateness.validity(List.of(client)));
    }

    @Test
    void aSingleLateOperationDoesNotMakeARowInvalid() {
        assertFalse(ModelLateness.validity(List.of(counts(3, 1))).invalid());
        assertTrue(ModelLateness.validity(List.of(counts(3, 2))).invalid());
    }

    @Test
    void countsAreOfTheTimeBetween() {
        assertEquals(counts(5, 1), counts(12, 3).since(counts(7, 2)));
    }

    /** Of a process with a model. */
    private static ModelLateness.Counts counts(long operations, long late) {
        return new ModelLateness.Counts(true, operations, late);
    }
}
