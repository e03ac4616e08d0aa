package io.farheap.bench.figures;

import com.google.gson.JsonElement;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sentences, plots and commands with values in braces; a value's braces are on one line.
 *
 * @param source lines as of a page; paragraphs are broken again at the width of pages
 */
record TextTemplate(List<String> source) implements FigureTemplate {

    private static final Pattern PLACE = Pattern.compile("\\{([^{}]+)\\}");

    @Override
    public List<String> render(FigureFile figure, LocalDate today) {
        List<String> filled = new ArrayList<>();
        for (String line : source) {
            filled.add(PLACE.matcher(line)
                    .replaceAll(place ->
                            Matcher.quoteReplacement(value(place.group(1).strip(), figure))));
        }
        List<String> marks = FigureCaption.marks(figure, today);
        if (!marks.isEmpty()) {
            mark("*" + String.join(" ", marks) + "*", filled);
        }
        return ProseLines.wrap(filled);
    }

    /** Puts a mark where a reader sees it first; in front of a list, a table, a plot or a block it is a paragraph. */
    private static void mark(String mark, List<String> lines) {
        if (!lines.isEmpty() && ProseLines.begins(lines.getFirst())) {
            lines.set(0, mark + " " + lines.getFirst());
        } else {
            lines.addAll(0, List.of(mark, ""));
        }
    }

    private static String value(String text, FigureFile figure) {
        if (text.startsWith("@")) {
            return origin(text.substring(1), figure);
        }
        String printed = FigureTerm.parse(text).print(figure.rows());
        if (printed.equals(FigureTerm.NONE) || printed.equals(FigureTerm.INVALID)) {
            throw new IllegalArgumentException("{" + text + "}: "
                    + (printed.equals(FigureTerm.NONE)
                            ? "no row of the report has this value"
                            : "its row is invalid, and has no ratio")
                    + "; change the sentence");
        }
        return printed;
    }

    private static String origin(String field, FigureFile figure) {
        return switch (field) {
            case "command" -> figure.command();
            case "date" -> figure.date().toString();
            case "commit" -> FigureCaption.commit(figure);
            case "machine" -> figure.machine();
            default -> {
                JsonElement reported = figure.reported(field);
                String text = RowFilter.text(reported);
                if (text.equals(RowFilter.NONE)) {
                    String lacks = reported == null
                            ? "no such field"
                            : "no value for it, since it has no valid row that counts; change the text";
                    throw new IllegalArgumentException("{@" + field + "}: the report has " + lacks);
                }
                yield text;
            }
        };
    }
}
