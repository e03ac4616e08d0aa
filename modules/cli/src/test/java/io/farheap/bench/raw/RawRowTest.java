package io.farheap.bench.raw;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Validity;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows of {@code bench raw}: ratios to the C loop, of valid rows alone. */
class RawRowTest {

    private static final Quartiles C = new Quartiles(9, 10, 11);

    private static RawRow row(double session, boolean settled, Validity validity) {
        Quartiles java = new Quartiles(session - 1, session, session + 1);
        return new RawRow(
                RawOperation.READ, 8, 16, 4, C, new Quartiles(14, 15, 16), java, java, 30, 40, settled, validity);
    }

    private static JsonArray json(RawRow... rows) {
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench raw");
        for (RawRow row : rows) {
            row.put(report.row(), "soft0 (soft)");
        }
        return JsonParser.parseString(report.json()).getAsJsonObject().getAsJsonArray("rows");
    }

    @Test
    void aValidRowHasRatiosAndTheMeansOfItsSides() {
        JsonObject row = json(row(20, true, Validity.NO_MODEL)).get(0).getAsJsonObject();
        assertEquals(2, row.get("ratio_p50").getAsDouble());
        assertEquals(0.5, row.get("ratio_ops").getAsDouble());
        assertEquals(32, row.get("bytes_local").getAsLong());
        assertEquals(1, row.get("cores").getAsInt());
        assertEquals(16, row.get("in_flight").getAsInt());
        assertEquals(4, row.get("group").getAsInt());
        assertTrue(row.get("settled").getAsBoolean());
        assertFalse(row.get("invalid").getAsBoolean());
    }

    @Test
    void anInvalidRowHasItsTimesAndNoRatio() {
        RawRow invalid = row(20, true, new Validity(3));
        JsonObject row = json(invalid).get(0).getAsJsonObject();
        assertTrue(row.get("invalid").getAsBoolean());
        assertEquals(10, row.get("raw_p50_ns").getAsDouble());
        assertTrue(row.get("ratio_p50").isJsonNull());
        assertTrue(row.get("ratio_ops").isJsonNull());
        assertTrue(Double.isNaN(invalid.ratio(invalid.verbs())));
        assertTrue(Double.isNaN(invalid.difference()));
    }

    @Test
    void anOperationThatSessionsDoNotHaveIsThatOfVerbs() {
        RawRow row = new RawRow(
                RawOperation.CAS,
                8,
                1,
                1,
                C,
                new Quartiles(14, 15, 16),
                Quartiles.NONE,
                Quartiles.NONE,
                30,
                40,
                true,
                Validity.NO_MODEL);
        assertEquals(15, row.java().median());
        assertTrue(json(row).get(0).getAsJsonObject().get("session_p50_ns").isJsonNull());
        assertFalse(RawJvms.rows(List.of(json(row))).getFirst().session().known());
    }

    @Test
    void aRowOfSeveralJvmsIsAsGoodAsItsWorst() {
        JsonArray one = json(row(20, true, Validity.NO_MODEL));
        JsonArray two = json(row(30, false, new Validity(0.5)));
        JsonArray three = json(row(40, true, new Validity(2)));
        RawRow row = RawJvms.rows(List.of(one, two, three)).getFirst();
        assertEquals(new Quartiles(29, 30, 31), row.session());
        assertFalse(row.settled());
        assertEquals(new Validity(2), row.validity());
        assertTrue(RawJvms.rows(List.of(one, one)).getFirst().settled());
    }

    @Test
    void aJvmWhosePercentageIsRoundedToTheLimitMakesTheRowInvalid() {
        JsonArray one = json(row(20, true, Validity.NO_MODEL));
        JsonArray two = json(row(30, true, new Validity(1.0004)));
        RawRow row = RawJvms.rows(List.of(one, two)).getFirst();
        assertTrue(row.validity().invalid());
        assertTrue(Double.isNaN(row.ratio(row.session())));
    }

    @Test
    void aRowOfReadsAloneIsNotJudgedInAnyJvm() {
        JsonArray reads = json(row(20, true, Validity.NOT_JUDGED));
        assertTrue(reads.get(0).getAsJsonObject().get("late_pct").isJsonNull());
        assertEquals(
                Validity.NOT_JUDGED,
                RawJvms.rows(List.of(reads, reads)).getFirst().validity());
    }
}
