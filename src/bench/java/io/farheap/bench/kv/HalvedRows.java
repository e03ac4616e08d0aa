package io.farheap.bench.kv;

import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.farheap.bench.report.BenchReport;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The rows of two halves of a run, between which another process ran: a figure is the mean of both halves. So no side
 * is always the first, although one of them needs a process of its own.
 */
final class HalvedRows {

    private static final String LATE = "late_pct";
    /** Numbers that say which row it is, and with which means: both halves have the same. */
    private static final Set<String> MEANS = Set.of(
            "sessions", "threads", "keys", "bytes_local", "bytes_remote", "cores", "in_flight", "group", "value_bytes");

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
        Set<String> names = new LinkedHashSet<>(one.keySet());
        names.addAll(other.keySet());
        for (String name : names) {
            if (!one.has(name) || !other.has(name)) {
                throw new IllegalArgumentException(
                        "two halves of a run have different rows: only one of them has the field " + name);
            }
            merged.add(name, name.equals(LATE) ? late(one, other) : merge(name, one.get(name), other.get(name)));
        }
        return merged;
    }

    /**
     * Returns the higher share of late operations. If one half was not judged, the whole is not, unless the other is
     * invalid.
     */
    private static JsonElement late(JsonObject one, JsonObject other) {
        JsonElement a = one.get(LATE);
        JsonElement b = other.get(LATE);
        if (a.isJsonNull() || b.isJsonNull()) {
            JsonObject known = a.isJsonNull() ? other : one;
            boolean invalid = known.has(INVALID) && known.get(INVALID).getAsBoolean();
            return invalid ? known.get(LATE) : JsonNull.INSTANCE;
        }
        return a.getAsDouble() < b.getAsDouble() ? b : a;
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
        if (!a.isNumber() || MEANS.contains(name)) {
            throw new IllegalArgumentException(
                    "two halves of a run have different rows: " + name + " is " + one + " and " + other);
        }
        return new JsonPrimitive((a.getAsDouble() + b.getAsDouble()) / 2);
    }
}
