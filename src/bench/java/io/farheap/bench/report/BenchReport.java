package io.farheap.bench.report;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.farheap.measure.SoftverbsModel;
import io.farheap.memory.Plurals;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A benchmark's figures with their origin, as one JSON object: {@code device}, {@code model}, {@code cores},
 * {@code command}, the fields of the {@linkplain #summary() summary}, and {@code rows}. One thread at a time.
 */
public final class BenchReport {

    private static final Gson GSON = new GsonBuilder()
            .serializeNulls()
            .setPrettyPrinting()
            .disableHtmlEscaping()
            .create();
    private static final double DECIMALS = 1e3;

    private final String device;
    private final String model;
    private final int cores;
    private final String command;
    private final JsonObject summary = new JsonObject();
    private final JsonArray rows = new JsonArray();

    /**
     * @param device as {@code soft0 (soft)}: its name and the verbs library to which it belongs
     * @param model as in {@link SoftverbsModel}
     * @param cores that this process may use
     * @param command by which the figures can be reproduced
     */
    public BenchReport(String device, String model, int cores, String command) {
        this.device = device;
        this.model = model;
        this.cores = cores;
        this.command = command;
    }

    /**
     * Returns the figures of the whole run: fields of the report itself, before its rows. Each call returns the same
     * ones.
     */
    public Row summary() {
        return new Row(summary);
    }

    /** Adds a row; its fields are written in the order in which they are put. */
    public Row row() {
        JsonObject row = new JsonObject();
        rows.add(row);
        return new Row(row);
    }

    /** Returns an empty report of the same device, model and command: for rows that are merged before they count. */
    public BenchReport another() {
        return new BenchReport(device, model, cores, command);
    }

    /** Returns a copy of the rows so far. */
    public List<JsonObject> rows() {
        return rows.asList().stream()
                .map(row -> row.getAsJsonObject().deepCopy())
                .toList();
    }

    public String device() {
        return device;
    }

    public String model() {
        return model;
    }

    public String command() {
        return command;
    }

    /** Returns the lines that tables and plots print beside their figures. */
    public List<String> origin() {
        return List.of(
                "device " + device + ", " + (model.equals(SoftverbsModel.NONE) ? "no model" : "model " + model) + ", "
                        + Plurals.of(cores, "core"),
                command);
    }

    /** Returns the report as a JSON object. */
    public String json() {
        JsonObject report = new JsonObject();
        report.addProperty("device", device);
        report.addProperty("model", model);
        report.addProperty("cores", cores);
        report.addProperty("command", command);
        summary.entrySet().forEach(field -> report.add(field.getKey(), field.getValue()));
        report.add("rows", rows);
        return GSON.toJson(report);
    }

    /** The fields of one row. */
    public static final class Row {

        private final JsonObject fields;

        private Row(JsonObject fields) {
            this.fields = fields;
        }

        public Row put(String name, @Nullable String value) {
            return add(name, value == null ? JsonNull.INSTANCE : new JsonPrimitive(value));
        }

        public Row put(String name, boolean value) {
            return add(name, new JsonPrimitive(value));
        }

        public Row put(String name, long value) {
            return add(name, new JsonPrimitive(value));
        }

        /**
         * Puts a number, rounded to three decimals; null if there is no such figure (it is infinite or not a number).
         */
        public Row put(String name, double value) {
            return add(
                    name,
                    Double.isFinite(value)
                            ? new JsonPrimitive(Math.rint(value * DECIMALS) / DECIMALS)
                            : JsonNull.INSTANCE);
        }

        /** Puts the fields of a row of another report, as they are there. */
        public Row putAll(JsonObject others) {
            others.entrySet().forEach(field -> add(field.getKey(), field.getValue()));
            return this;
        }

        private Row add(String name, JsonElement value) {
            if (fields.has(name)) {
                throw new IllegalArgumentException("a row has one field " + name);
            }
            fields.add(name, value);
            return this;
        }
    }
}
