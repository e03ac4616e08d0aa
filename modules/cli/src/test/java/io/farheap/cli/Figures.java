package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The fields of a benchmark's report, or of one of its rows. Times, rates and ratios depend on the machine and its
 * load, so a test only checks that they are present. Counts that the benchmark guarantees may be compared.
 */
record Figures(JsonObject fields) {

    static Figures read(Path json) throws IOException {
        return new Figures(JsonParser.parseString(Files.readString(json)).getAsJsonObject());
    }

    List<Figures> rows() {
        return rows(fields.getAsJsonArray("rows"));
    }

    static List<Figures> rows(JsonArray array) {
        List<Figures> rows = new ArrayList<>();
        array.forEach(row -> rows.add(new Figures(row.getAsJsonObject())));
        return rows;
    }

    boolean has(String field) {
        return fields.has(field);
    }

    private JsonElement get(String field) {
        assertTrue(fields.has(field), () -> field + " of " + this);
        return fields.get(field);
    }

    String text(String field) {
        return get(field).getAsString();
    }

    boolean flag(String field) {
        return get(field).getAsBoolean();
    }

    int count(String field) {
        return get(field).getAsInt();
    }

    /** A count, or a number that is computed from counts. */
    double number(String field) {
        assertThere(field);
        return get(field).getAsDouble();
    }

    /** Each is a number: a report has null if there is no figure, or if it is infinite. */
    void assertThere(String... names) {
        for (String field : names) {
            JsonElement value = get(field);
            assertTrue(value.isJsonPrimitive() && value.getAsJsonPrimitive().isNumber(), () -> field + " of " + this);
        }
    }

    /** Each is a number, or null if there is no such figure. */
    void assertSaid(String... names) {
        for (String field : names) {
            if (!get(field).isJsonNull()) {
                assertThere(field);
            }
        }
    }

    /** The field is present and null: there is no such figure. */
    void assertNone(String field) {
        assertTrue(get(field).isJsonNull(), () -> field + " of " + this);
    }

    /** Each is no less than the one before: percentiles of one histogram. */
    void assertRising(String... names) {
        for (int i = 1; i < names.length; i++) {
            assertTrue(number(names[i - 1]) <= number(names[i]), names[i - 1] + ", " + names[i] + " of " + this);
        }
    }

    void assertCount(double expected, String field) {
        assertEquals(expected, number(field), () -> field + " of " + this);
    }

    @Override
    public String toString() {
        return fields.toString();
    }
}
