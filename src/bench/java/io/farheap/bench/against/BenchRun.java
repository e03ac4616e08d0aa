package io.farheap.bench.against;

import com.google.gson.JsonObject;
import java.util.Map;

/**
 * One run of the benchmark.
 *
 * @param ours whether it is this build's, or else the other's
 * @param rows by name
 */
record BenchRun(boolean ours, Map<String, JsonObject> rows) {

    /** @return what is printed; NaN where there is no such row or figure */
    double value(String row, Figure figure) {
        JsonObject found = rows.get(row);
        return found == null ? Double.NaN : figure.value(found);
    }

    /** @return what ratios are of; NaN where there is no such row or figure, or a ratio would mean nothing */
    double comparable(String row, Figure figure) {
        JsonObject found = rows.get(row);
        return found == null ? Double.NaN : figure.comparable(found);
    }
}
