package io.farheap.bench.against;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import org.jspecify.annotations.Nullable;

/**
 * A field of a benchmark's rows that two builds may differ in.
 *
 * @param field its name
 * @param kind how values compare
 * @param baseline the field of the same row that it is divided by, to leave the machine's speed out; null for none
 * @param baselineName what that is, for people: {@code C}
 */
public record Figure(
        String field,
        Kind kind,
        @Nullable String baseline,
        @Nullable String baselineName) {

    private static final double ALL_PERCENT = 100;

    /** How values compare. */
    public enum Kind {
        /** Less is better. */
        TIME,
        /** More is better. */
        RATE,
        /** Of throughput, in percent. Near 0 a ratio means nothing, so what is left of the throughput is compared. */
        DROP
    }

    public static Figure time(String field) {
        return new Figure(field, Kind.TIME, null, null);
    }

    public static Figure rate(String field) {
        return new Figure(field, Kind.RATE, null, null);
    }

    public static Figure drop(String field) {
        return new Figure(field, Kind.DROP, null, null);
    }

    /** The same, divided by another field of its row. */
    public Figure over(String other, String name) {
        return new Figure(field, kind, other, name);
    }

    /** For people, and without spaces. */
    String label() {
        return baseline == null ? field : field + "/" + baselineName;
    }

    boolean lessIsBetter() {
        return kind == Kind.TIME;
    }

    /** @return what is printed of a row; NaN where there is no such figure */
    double value(JsonObject row) {
        return baseline == null ? number(row.get(field)) : number(row.get(field)) / number(row.get(baseline));
    }

    /** @return what ratios are of; NaN where a ratio would mean nothing */
    double comparable(JsonObject row) {
        double value = kind == Kind.DROP ? ALL_PERCENT - value(row) : value(row);
        return value > 0 && Double.isFinite(value) ? value : Double.NaN;
    }

    private static double number(JsonElement value) {
        return value instanceof JsonPrimitive known && known.isNumber() ? known.getAsDouble() : Double.NaN;
    }
}
