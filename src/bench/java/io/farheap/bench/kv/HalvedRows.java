package io.farheap.bench.kv;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.farheap.bench.report.BenchReport;
import java.util.List;

/**
 * The rows of two halves of a run, between which another process ran: a figure is the mean of both halves. So no side
 * is always the first, although one of them needs a process of its own.
 */
final class HalvedRows {

    private static final String LATE = "late_pct";
    private static final String INVALID = "invalid";

    private HalvedRows() {}

    /**
     * Puts the rows, in the order of the halves, which must have the same rows.
     *
     * @throws IllegalArgumentException if they have not
     */
    static void put(BenchReport report, List<JsonObject> first, List<JsonObject> second) {
        if (first.size() != second.size()) {
            throw new IllegalArgumentException(
                    "one half of a run has " + first.size() + " rows, and the other " + second.size());
        }
        for (int i = 0; i < first.size(); i++) {
            report.row().putAll(merge(first.get(i), second.get(i)));
        }
    }

    static JsonObject merge(JsonObject one, JsonObject other) {
        JsonObject merged = new JsonObject();
        for (String name : one.keySet()) {
            merged.add(name, merge(name, one.get(name), other.get(name)));
        }
        return merged;
    }

    /** A field is null if one half has none: its ratio, or its rate, was invalid. */
    private static JsonElement merge(String name, JsonElement one, JsonElement other) {
        if (one.equals(other) || !(one instanceof JsonPrimitive a)) {
            return one;
        }
        if (!(other instanceof JsonPrimitive b)) {
            return other;
        }
        if (a.isBoolean()) {
            // Valid, settled and so on only if both halves are.
            return new JsonPrimitive(
                    name.equals(INVALID) ? a.getAsBoolean() || b.getAsBoolean() : a.getAsBoolean() && b.getAsBoolean());
        }
        if (!a.isNumber()) {
            throw new IllegalArgumentException(
                    "two halves of a run have different rows: " + name + " is " + one + " and " + other);
        }
        double most = Math.max(a.getAsDouble(), b.getAsDouble());
        return new JsonPrimitive(name.equals(LATE) ? most : (a.getAsDouble() + b.getAsDouble()) / 2);
    }
}
