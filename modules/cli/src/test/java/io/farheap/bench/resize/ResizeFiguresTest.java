package io.farheap.bench.resize;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Validity;
import org.junit.jupiter.api.Test;

/** Resizes are compared with quiet times by medians over all turns, and an invalid row has no comparison. */
class ResizeFiguresTest {

    private static JsonObject row(boolean settled, Validity validity) {
        ResizeFigures figures = new ResizeFigures();
        figures.add(new ResizeFigures.Turn(1000, 100, 1000, 50, 5, 2));
        figures.add(new ResizeFigures.Turn(400, 300, 800, 70, 7, 3));
        figures.add(new ResizeFigures.Turn(500, 200, 300, 60, 6, 4));
        figures.end(settled, validity);
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench resize");
        figures.put(report.row(), true);
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void theRatioIsThatOfTheMedians() {
        JsonObject row = row(true, Validity.NO_MODEL);
        // The turns' ratios are 0.1, 0.5 and 0.5; the medians 200 and 600.
        assertEquals(0.333, row.get("ratio").getAsDouble());
        assertEquals(0.1, row.get("least_ratio").getAsDouble());
        assertEquals(0.5, row.get("most_ratio").getAsDouble());
        assertEquals(1.6, row.get("same").getAsDouble());
        assertEquals(200, row.get("ops_per_s").getAsDouble());
        assertEquals(150, row.get("ops_per_s_p25").getAsDouble());
        assertEquals(70, row.get("longest_us").getAsDouble());
        assertTrue(row.get("settled").getAsBoolean());
        assertEquals(2, row.get("cores").getAsInt());
        assertEquals(1, row.get("quiet_cores").getAsInt());
    }

    @Test
    void anInvalidRowHasItsRatesAndNoRatio() {
        JsonObject row = row(false, new Validity(2));
        for (String name : new String[] {"ratio", "least_ratio", "most_ratio", "same", "least_same", "most_same"}) {
            assertTrue(row.get(name).isJsonNull(), name);
        }
        assertEquals(200, row.get("ops_per_s").getAsDouble());
        assertTrue(row.get("invalid").getAsBoolean());
        assertFalse(row.get("settled").getAsBoolean());
    }
}
