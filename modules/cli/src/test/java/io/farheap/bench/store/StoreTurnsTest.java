package io.farheap.bench.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two sides take turns, and are compared by medians. */
class StoreTurnsTest {

    private final StringBuilder order = new StringBuilder();

    private StoreTurns.Run<RuntimeException> run(char name, Double... figures) {
        Iterator<Double> left = List.of(figures).iterator();
        return () -> {
            order.append(name);
            return left.next();
        };
    }

    private JsonObject row(StoreTurns turns) {
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench store");
        turns.putRest(turns.putRatio(report.row()), "ops_per_s", "quiet_ops_per_s");
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void theOtherSideIsTheFirstInEachTurnAndThreeTurnsDoNotCount() {
        StoreTurns turns = StoreTurns.take(
                true,
                3,
                run('s', 9.0, 9.0, 9.0, 100.0, 200.0, 300.0),
                run('o', 9.0, 9.0, 9.0, 1000.0, 400.0, 600.0),
                () -> order.append('|'));
        assertEquals("ossoos|soosso", order.toString());
        JsonObject row = row(turns);
        // The turns' ratios are 0.1, 0.5 and 0.5; the medians 200 and 600.
        assertEquals(0.333, row.get("ratio").getAsDouble());
        assertEquals(0.1, row.get("ratio_least").getAsDouble());
        assertEquals(0.5, row.get("ratio_most").getAsDouble());
        assertEquals(150, row.get("ops_per_s_p25").getAsDouble());
        assertEquals(800, row.get("quiet_ops_per_s_p75").getAsDouble());
        assertTrue(row.get("settled").getAsBoolean());
        assertFalse(row.get("invalid").getAsBoolean());
    }

    /** A checkpoint just after another one would find less to write. */
    @Test
    void theOtherSideIsAlwaysTheFirstIfTheyDoNotRotate() {
        StoreTurns.take(
                false,
                2,
                run('s', 9.0, 9.0, 9.0, 1.0, 2.0),
                run('o', 9.0, 9.0, 9.0, 1.0, 2.0),
                () -> order.append('|'));
        assertEquals("ososos|osos", order.toString());
    }

    @Test
    void aFourthTurnDoesNotCountIfOnlyThenThreeAgree() {
        StoreTurns turns = StoreTurns.take(
                true, 1, run('s', 5.0, 9.0, 9.0, 9.0, 1.0), run('o', 1.0, 1.0, 1.0, 1.0, 1.0), () -> order.append('|'));
        assertEquals("ossoosso|so", order.toString());
        assertTrue(row(turns).get("settled").getAsBoolean());
    }

    @Test
    void sidesThatDoNotAgreeInFiveTurnsSaySo() {
        StoreTurns turns = StoreTurns.take(
                true,
                1,
                run('s', 5.0, 7.0, 9.0, 12.0, 15.0, 1.0),
                run('o', 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
                () -> order.append('|'));
        assertEquals("ossoossoos|so", order.toString());
        assertFalse(row(turns).get("settled").getAsBoolean());
        assertEquals("not settled", turns.remark());
    }
}
