package io.farheap.bench.against;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.farheap.bench.report.BenchReport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The fields of a benchmark's rows.
 *
 * @param identity fields that distinguish the rows of one run. A value that a build chooses itself is not among them: a
 *     better default is a difference, too
 * @param figures the figures that are compared
 */
public record RowShape(List<String> identity, List<Figure> figures) {

    /** Whether a row has all of these fields. */
    public boolean describes(JsonObject row) {
        return row.keySet().containsAll(identity)
                && figures.stream()
                        .allMatch(figure ->
                                row.has(figure.field()) && (figure.baseline() == null || row.has(figure.baseline())));
    }

    /** @return rows by name, in order; if two have the same name, the first of them */
    Map<String, JsonObject> byName(JsonArray rows) {
        Map<String, JsonObject> named = new LinkedHashMap<>();
        rows.forEach(row -> named.putIfAbsent(name(row.getAsJsonObject()), row.getAsJsonObject()));
        return named;
    }

    private String name(JsonObject row) {
        return identity.stream()
                .map(row::get)
                .map(value -> value instanceof JsonPrimitive known ? known.getAsString() : "-")
                .collect(Collectors.joining(" "));
    }

    void putIdentity(BenchReport.Row to, JsonObject row) {
        for (String field : identity) {
            JsonElement value = row.get(field);
            if (value instanceof JsonPrimitive known && known.isNumber()) {
                to.put(field, known.getAsLong());
            } else if (value instanceof JsonPrimitive known && known.isBoolean()) {
                to.put(field, known.getAsBoolean());
            } else {
                to.put(field, value instanceof JsonPrimitive known ? known.getAsString() : null);
            }
        }
    }
}
