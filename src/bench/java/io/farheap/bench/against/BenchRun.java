package io.farheap.bench.against;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.Map;

/**
 * One run of the benchmark.
 *
 * @param ours whether it is a run of this build; if not, of the other one
 * @param rows by name
 */
record BenchRun(boolean ours, Map<String, JsonObject> rows) {

    /** @return the value to print; NaN if there is no such row or figure */
    double value(String row, Figure figure) {
        JsonObject found = rows.get(row);
        return found == null ? Double.NaN : figure.value(found);
    }

    /**
     * @return the value for ratios; NaN if there is no such row or figure, if a ratio would be meaningless, or if the
     *     row is invalid
     */
    double comparable(String row, Figure figure) {
        JsonObject found = rows.get(row);
        return found == null || invalid(found) ? Double.NaN : figure.comparable(found);
    }

    private static boolean invalid(JsonObject row) {
        return row.get("invalid") instanceof JsonPrimitive known && known.isBoolean() && known.getAsBoolean();
    }
}
