package io.farheap.bench.against;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BenchRunTest {

    private static final Figure FIGURE = Figure.time("p50_ns");

    private static BenchRun run(boolean invalid) {
        JsonObject row = new JsonObject();
        row.addProperty("p50_ns", 20);
        row.addProperty("invalid", invalid);
        return new BenchRun(true, Map.of("row", row));
    }

    @Test
    void anInvalidRowHasAValueAndNoRatio() {
        assertEquals(20, run(true).value("row", FIGURE));
        assertTrue(Double.isNaN(run(true).comparable("row", FIGURE)));
        assertEquals(20, run(false).comparable("row", FIGURE));
    }
}
