package io.farheap.bench.figures;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses rows of a report.
 *
 * @param values for each field the texts of which it must have one
 */
record RowFilter(Map<String, Set<String>> values) {

    /** The text of a field that is absent or null. */
    static final String NONE = "-";

    /** @param words as {@code op=read} or {@code size=8,64} */
    static RowFilter of(List<String> words) {
        Map<String, Set<String>> values = new LinkedHashMap<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            if (equals < 1 || equals == word.length() - 1) {
                throw new IllegalArgumentException("'" + word + "' must be a field, '=', and the values to choose");
            }
            String texts = word.substring(equals + 1);
            boolean quoted = texts.length() > 1 && texts.startsWith("\"") && texts.endsWith("\"");
            values.put(
                    word.substring(0, equals),
                    quoted ? Set.of(texts.substring(1, texts.length() - 1)) : Set.copyOf(List.of(texts.split(","))));
        }
        return new RowFilter(values);
    }

    boolean matches(JsonObject row) {
        return values.entrySet().stream().allMatch(each -> each.getValue().contains(text(row.get(each.getKey()))));
    }

    /** The text with which a field is compared. */
    static String text(@Nullable JsonElement field) {
        return field instanceof JsonPrimitive value ? value.getAsString() : NONE;
    }
}
