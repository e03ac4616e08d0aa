package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.measure.SoftverbsModel;
import java.util.List;
import org.junit.jupiter.api.Test;

class BenchReportTest {

    @Test
    void oneObjectWithItsOriginAndRows() {
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench raw --op \"read\"");
        report.row()
                .put("op", "read")
                .put("size", 8)
                .put("raw_p50_ns", 18.53249)
                .put("pause", (String) null)
                .put("warm", true);
        report.row().put("ratio", Double.NaN);

        JsonObject object = JsonParser.parseString(report.json()).getAsJsonObject();
        assertEquals(List.of("device", "model", "cores", "command", "rows"), List.copyOf(object.keySet()));
        assertEquals("soft0 (soft)", object.get("device").getAsString());
        assertEquals("connectx5", object.get("model").getAsString());
        assertEquals(2, object.get("cores").getAsInt());
        assertEquals("./farheap bench raw --op \"read\"", object.get("command").getAsString());
        JsonObject row = object.getAsJsonArray("rows").get(0).getAsJsonObject();
        assertEquals(List.of("op", "size", "raw_p50_ns", "pause", "warm"), List.copyOf(row.keySet()));
        assertEquals("18.532", row.get("raw_p50_ns").getAsString());
        assertTrue(object.getAsJsonArray("rows")
                .get(1)
                .getAsJsonObject()
                .get("ratio")
                .isJsonNull());
    }

    @Test
    void fieldsAreNotOverwritten() {
        BenchReport.Row row =
                new BenchReport("d", SoftverbsModel.NONE, 1, "c").row().put("size", 8);
        assertThrows(IllegalArgumentException.class, () -> row.put("size", 64));
    }
}
