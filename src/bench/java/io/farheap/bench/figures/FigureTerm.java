package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * One printed value: a field of the rows that match, and its format.
 *
 * @param source its text in the template
 * @param divisor of numbers, such as 1000 for a time in us of a field in ns
 * @param format as of {@link String#format}
 */
record FigureTerm(String source, Choice choice, String field, RowFilter filter, double divisor, String format) {

    /** Which value is printed if several rows match. */
    enum Choice {
        /** Any: all must be equal. */
        ONLY,
        LEAST,
        MOST
    }

    /** Printed if no row that matches has the field. */
    static final String NONE = RowFilter.NONE;
    /** Printed for a ratio of an invalid row. */
    static final String INVALID = "invalid";

    private static final Pattern FORMAT = Pattern.compile("%(?:,?d|,?\\.\\df|s)");

    /** @throws IllegalArgumentException if it is not a term; the message begins with it */
    static FigureTerm parse(String source) {
        List<String> words = new ArrayList<>(TemplateWords.of(source));
        Choice choice = Choice.ONLY;
        if (words.size() > 1
                && (words.getFirst().equals("least") || words.getFirst().equals("most"))) {
            choice = words.removeFirst().equals("least") ? Choice.LEAST : Choice.MOST;
        }
        if (words.isEmpty()) {
            throw new IllegalArgumentException("'" + source + "': a term must name a field");
        }
        String field = words.removeFirst();
        List<String> filter = new ArrayList<>();
        double divisor = 1;
        String format = "%s";
        for (String word : words) {
            if (word.startsWith("%")) {
                format = word;
            } else if (word.startsWith("/")) {
                divisor = divisor(source, word);
            } else {
                filter.add(word);
            }
        }
        if (!FORMAT.matcher(format).matches()) {
            throw new IllegalArgumentException(
                    "'" + source + "': its format " + format + " must be one of %d, %,d, %.1f, %,.1f and %s");
        }
        return new FigureTerm(source, choice, field, RowFilter.of(filter), divisor, format);
    }

    private static double divisor(String source, String word) {
        try {
            return Double.parseDouble(word.substring(1));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + source + "': " + word + " must be / and a number", e);
        }
    }

    /** Whether it prints a number, and not a text. */
    boolean numeric() {
        return !format.equals("%s");
    }

    /**
     * Prints the value.
     *
     * @return {@link #NONE} or {@link #INVALID} if there is none
     * @throws IllegalArgumentException if several rows match, and their values differ
     */
    String print(List<JsonObject> rows) {
        List<JsonObject> matching = rows.stream().filter(filter::matches).toList();
        if (InvalidRows.ratio(field) && matching.stream().anyMatch(InvalidRows::invalid)) {
            return INVALID;
        }
        List<JsonPrimitive> values = matching.stream()
                .filter(row -> row.get(field) instanceof JsonPrimitive)
                .map(row -> row.getAsJsonPrimitive(field))
                .distinct()
                .toList();
        if (values.isEmpty()) {
            return NONE;
        }
        if (choice == Choice.ONLY && values.size() > 1) {
            throw new IllegalArgumentException("'" + source + "': " + values.size()
                    + " rows with different values match; name more fields, or ask for the least or the most");
        }
        return numeric() ? number(values) : values.getFirst().getAsString();
    }

    private String number(List<JsonPrimitive> values) {
        if (!values.stream().allMatch(JsonPrimitive::isNumber)) {
            throw new IllegalArgumentException("'" + source + "': " + field + " is not a number; print it by %s");
        }
        double[] sorted =
                values.stream().mapToDouble(JsonPrimitive::getAsDouble).sorted().toArray();
        double number = sorted[choice == Choice.MOST ? sorted.length - 1 : 0] / divisor;
        return format.endsWith("d")
                ? String.format(Locale.ROOT, format, Math.round(number))
                : String.format(Locale.ROOT, format, number);
    }
}
