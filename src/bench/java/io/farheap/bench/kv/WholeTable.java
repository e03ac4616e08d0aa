package io.farheap.bench.kv;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import io.farheap.measure.SoftverbsModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The points of the tables in an earlier report. A run that replaces the report has to measure all of them: tables of
 * which only some points are run again, such as the low ones, flatter.
 */
final class WholeTable {

    private static final String PART = "part";
    private static final String POLICY = "policy";
    private static final String SESSIONS = "sessions";

    private WholeTable() {}

    static String trace(String trace, long objects, String policy, long clients, boolean slow) {
        return "traces: " + trace + ", " + objects + " objects, " + policy + ", " + clients + " clients"
                + (slow ? ", with slow misses" : "");
    }

    /** @param model the value of {@code model} in the point's rows */
    static String ycsb(String workload, String keys, long sessions, String model) {
        return "ycsb: " + workload + ", " + keys + ", " + sessions + " sessions, model " + model;
    }

    static String worth(long sessions) {
        return "worth: " + sessions + " sessions";
    }

    /**
     * Returns the points of a report's tables; none if there is no such file, or it is no report.
     *
     * @throws IOException if the file cannot be read
     */
    static Set<String> points(Path report) throws IOException {
        Set<String> points = new LinkedHashSet<>();
        if (!Files.isRegularFile(report)) {
            return points;
        }
        try {
            if (JsonParser.parseString(Files.readString(report)) instanceof JsonObject object
                    && object.get("rows") instanceof JsonArray rows) {
                for (JsonElement row : rows) {
                    String point = row instanceof JsonObject fields ? point(fields) : null;
                    if (point != null) {
                        points.add(point);
                    }
                }
            }
        } catch (JsonParseException e) {
            // It is no report.
        }
        return points;
    }

    /** Returns the point to which a row belongs; null if it was computed of others, or names a peer that is absent. */
    private static @Nullable String point(JsonObject row) {
        String part = text(row, PART);
        if (row.has("absent") || part.isEmpty()) {
            return null;
        }
        return switch (part) {
            case "traces" ->
                row.has("requests")
                        ? trace(
                                text(row, "trace"),
                                number(row, "objects"),
                                text(row, POLICY),
                                number(row, "clients"),
                                row.has("miss_ns"))
                        : null;
            case YcsbRow.PART ->
                ycsb(
                        text(row, "workload"),
                        text(row, "keys"),
                        number(row, SESSIONS),
                        row.has("model") ? text(row, "model") : SoftverbsModel.NONE);
            case "worth" -> worth(number(row, SESSIONS));
            default -> part;
        };
    }

    private static String text(JsonObject row, String field) {
        return row.get(field) instanceof JsonPrimitive value ? value.getAsString() : "";
    }

    private static long number(JsonObject row, String field) {
        return row.get(field) instanceof JsonPrimitive value && value.isNumber() ? value.getAsLong() : 0;
    }

    /**
     * Refuses to replace single points of a table. A table of which this run measures no point is not in its report.
     *
     * @param earlier points of the report
     * @param measured points of this run
     * @throws IllegalArgumentException if the run measures some of a table's points and lacks others
     */
    static void check(Path report, Set<String> earlier, Set<String> measured) {
        Set<String> tables = measured.stream().map(WholeTable::table).collect(Collectors.toSet());
        List<String> replaced =
                earlier.stream().filter(point -> tables.contains(table(point))).toList();
        List<String> missing =
                replaced.stream().filter(point -> !measured.contains(point)).toList();
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException("--json " + report + ": its tables have " + replaced.size()
                    + " points, of which this run lacks " + missing.size() + " (" + missing.getFirst()
                    + "); measure all of them again, or write another file");
        }
    }

    private static String table(String point) {
        return point.substring(0, (point + ":").indexOf(':'));
    }
}
