package io.farheap.bench.figures;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The rule for rows that a machine with too few free cores spoilt: if the device's model executed more than 1% of the
 * operations late, the row is invalid, and has no ratio, nor another comparison such as a drop. A computed ratio and a
 * paper's may stand in it; the field's name has that word.
 */
final class InvalidRows {

    private static final String LATE = "late_pct";
    private static final double MOST_LATE_PERCENT = 1;
    private static final Pattern RATIO = Pattern.compile("(?:.*_)?(?:ratio|over|gain|drop)(?:_.*)?");
    private static final Pattern NOT_MEASURED = Pattern.compile("(?:.*_)?(?:computed|paper)(?:_.*)?");

    private InvalidRows() {}

    /** Whether the benchmark calls the row invalid, or reports that too many operations were late. */
    static boolean invalid(JsonObject row) {
        return isSet(row.get("invalid")) || latePercent(row) > MOST_LATE_PERCENT;
    }

    /** A flag that is true, or a text with the reason. */
    private static boolean isSet(JsonElement field) {
        return field instanceof JsonPrimitive value && (!value.isBoolean() || value.getAsBoolean());
    }

    /** Returns the percentage of late operations; NaN if the row has none. */
    static double latePercent(JsonObject row) {
        return row.get(LATE) instanceof JsonPrimitive value && value.isNumber() ? value.getAsDouble() : Double.NaN;
    }

    /**
     * Whether the model was on, but could judge no operation of the row or of a part of it, since they were READs: a
     * percentage of late operations is null.
     */
    static boolean notJudged(JsonObject row) {
        return row.entrySet().stream()
                .anyMatch(field ->
                        field.getKey().endsWith(LATE) && field.getValue().isJsonNull());
    }

    /** Whether a field of this name is a ratio of two measured values, or another comparison of them. */
    static boolean ratio(String field) {
        return RATIO.matcher(field).matches() && !NOT_MEASURED.matcher(field).matches();
    }

    /** Returns the ratios that an invalid row has nevertheless; none of a row that is valid. */
    static List<String> ratios(JsonObject row) {
        return invalid(row)
                ? row.entrySet().stream()
                        .filter(field -> ratio(field.getKey()) && field.getValue() instanceof JsonPrimitive)
                        .map(field -> field.getKey())
                        .toList()
                : List.of();
    }
}
