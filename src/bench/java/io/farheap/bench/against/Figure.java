package io.farheap.bench.against;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import org.jspecify.annotations.Nullable;

/**
 * A field of a benchmark's rows by which two builds are compared.
 *
 * @param field its name
 * @param kind how values compare
 * @param baseline the field of the same row by which it is divided, to leave out the machine's speed; null for none
 * @param baselineName the baseline, for people: {@code C}
 */
public record Figure(
        String field,
        Kind kind,
        @Nullable String baseline,
        @Nullable String baselineName) {

    private static final double ALL_PERCENT = 100;

    /** How values compare. */
    public enum Kind {
        /** A time: less is better. */
        TIME,
        /** A rate: more is better. */
        RATE,
        /** A loss of throughput, in percent. Near 0 a ratio is meaningless, so the remaining throughput is compared. */
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

    /** Returns the same figure, divided by another field of its row. */
    public Figure over(String other, String name) {
        return new Figure(field, kind, other, name);
    }

    /** Returns its name for people, without spaces. */
    String label() {
        return baseline == null ? field : field + "/" + baselineName;
    }

    boolean lessIsBetter() {
        return kind == Kind.TIME;
    }

    /** @return the value to print for a row; NaN if there is no such figure */
    double value(JsonObject row) {
        return baseline == null ? number(row.get(field)) : number(row.get(field)) / number(row.get(baseline));
    }

    /** @return the value for ratios; NaN if a ratio would be meaningless */
    double comparable(JsonObject row) {
        double value = kind == Kind.DROP ? ALL_PERCENT - value(row) : value(row);
        return value > 0 && Double.isFinite(value) ? value : Double.NaN;
    }

    private static double number(JsonElement value) {
        return value instanceof JsonPrimitive known && known.isNumber() ? known.getAsDouble() : Double.NaN;
    }
}
