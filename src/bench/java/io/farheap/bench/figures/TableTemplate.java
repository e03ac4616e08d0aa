package io.farheap.bench.figures;

import com.google.gson.JsonObject;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A table, with a line below it that says where it comes from.
 *
 * @param rows which rows of the report are in the table
 * @param by the fields whose values the rows of one line share; if it is empty, each row has a line of its own
 */
record TableTemplate(RowFilter rows, List<String> by, List<Column> columns) implements FigureTemplate {

    /** A column; a line's value is that of its rows. */
    record Column(String title, FigureTerm term) {}

    static TableTemplate parse(List<String> lines) {
        List<String> filter = new ArrayList<>();
        List<String> by = List.of();
        List<Column> columns = new ArrayList<>();
        for (String line : lines) {
            List<String> words = TemplateWords.of(line);
            if (words.isEmpty() || words.getFirst().startsWith("#")) {
                continue;
            }
            switch (words.getFirst()) {
                case "rows" -> filter.addAll(words.subList(1, words.size()));
                case "by" ->
                    by = List.of(line.strip().substring("by".length()).strip().split("\\s*,\\s*"));
                case "column" -> columns.add(column(line.strip().substring("column".length())));
                default -> throw new IllegalArgumentException("'" + line + "' must begin with rows, by, column or #");
            }
        }
        if (columns.isEmpty()) {
            throw new IllegalArgumentException("a table must have a column");
        }
        return new TableTemplate(RowFilter.of(filter), by, List.copyOf(columns));
    }

    private static Column column(String text) {
        int bar = text.indexOf('|');
        if (bar < 0) {
            throw new IllegalArgumentException("'column" + text + "' must have a | between its title and its term");
        }
        return new Column(text.substring(0, bar).strip(), FigureTerm.parse(text.substring(bar + 1)));
    }

    @Override
    public List<String> render(FigureFile figure, LocalDate today) {
        List<List<JsonObject>> groups = groups(figure.rows());
        if (groups.isEmpty()) {
            throw new IllegalArgumentException("no row of the report is in the table");
        }
        List<String> lines = new ArrayList<>();
        lines.add(line(columns.stream().map(Column::title).toList()));
        lines.add(columns.stream()
                .map(column -> column.term().numeric() ? "---:" : "---")
                .collect(Collectors.joining("|", "|", "|")));
        for (List<JsonObject> group : groups) {
            lines.add(line(
                    columns.stream().map(column -> column.term().print(group)).toList()));
        }
        lines.add("");
        List<String> caption = new ArrayList<>(List.of(FigureCaption.origin(figure) + "."));
        caption.addAll(FigureCaption.marks(figure, today));
        lines.addAll(ProseLines.wrap(List.of("*" + String.join(" ", caption) + "*")));
        return lines;
    }

    private static String line(List<String> cells) {
        return cells.stream().map(cell -> cell.replace("|", "\\|")).collect(Collectors.joining(" | ", "| ", " |"));
    }

    /** The rows of each line, in the order of the report. */
    private List<List<JsonObject>> groups(List<JsonObject> all) {
        Map<List<String>, List<JsonObject>> groups = new LinkedHashMap<>();
        int number = 0;
        for (JsonObject row : all) {
            number++;
            if (rows.matches(row)) {
                List<String> key = by.isEmpty()
                        ? List.of(String.valueOf(number))
                        : by.stream()
                                .map(field -> RowFilter.text(row.get(field)))
                                .toList();
                groups.computeIfAbsent(key, _ -> new ArrayList<>()).add(row);
            }
        }
        return List.copyOf(groups.values());
    }
}
