package io.farheap.docs;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The lines of a page that have measured figures and are in no place. A place is what {@code ./farheap figures} fills:
 * between {@code <!-- figure NAME TEMPLATE -->} and {@code <!-- /figure -->}.
 *
 * <p>A number of a setting looks like a measured one, so pages differ. In README.md and below docs/figures, a number
 * with a unit of time or rate is measured, and so is a cell of a table with a number alone, and the output of a
 * benchmark. Elsewhere only times in ns and rates are. Code in backticks has settings. A plot is measured everywhere.
 *
 * <p>docs/figures/published.md has what papers report. There a line of a table is not measured if its last cell is a
 * link to the publication.
 */
final class MeasuredLines {

    private static final String BEGIN = "<!-- figure ";
    private static final String END = "<!-- /figure -->";
    private static final String FENCE = "```";
    private static final Path FIGURES = Path.of("docs/figures");
    private static final Path README = Path.of("README.md");
    private static final Path PUBLISHED = Path.of("docs/figures/published.md");

    private static final Pattern PLOT = Pattern.compile("\\]\\([^()\\s]+\\.png\\)");
    /** On a page of figures. */
    private static final Pattern FIGURE =
            Pattern.compile("\\d ?(?:ns|us|ms|GiB/s|MiB/s|GB/s|M/s|k/s|%)(?![A-Za-z0-9])|\\d times\\b|\\d million\\b");

    private static final Pattern CELL = Pattern.compile("\\| *\\**\\d[\\d,.]*\\** *\\|");
    /** On any other page. */
    private static final Pattern RATE =
            Pattern.compile("\\d ns(?![A-Za-z0-9])|\\d ?(?:GiB/s|GB/s|M/s|k/s)|\\d million [a-z ]*a second");

    /** A line of a table whose last cell is a link to a publication. */
    private static final Pattern SOURCED = Pattern.compile("\\|.*\\| *\\[[^\\]]+\\]\\(https?://[^()\\s]+\\) *\\|");

    /** Lines that every benchmark prints above its table. */
    private static final Pattern OUTPUT = Pattern.compile("(?:.*\\bmedians of \\d.*)|device .*, (?:no )?model.*");

    private MeasuredLines() {}

    static List<Page.Line> of(Page page) {
        boolean figures = page.path().startsWith(FIGURES) || page.path().equals(README);
        boolean published = page.path().equals(PUBLISHED);
        List<Page.Line> found = new ArrayList<>();
        boolean place = false;
        boolean block = false;
        for (int i = 0; i < page.lines().size(); i++) {
            String line = page.lines().get(i);
            if (!block && line.startsWith(BEGIN)) {
                place = true;
            }
            if (!place && (block ? figures && OUTPUT.matcher(line).matches() : prose(figures, published, line))) {
                found.add(new Page.Line(page.path(), i + 1, line));
            }
            if (!place) {
                block ^= line.startsWith(FENCE);
            }
            place &= !line.equals(END);
        }
        return found;
    }

    private static boolean prose(boolean figures, boolean published, String line) {
        if (PLOT.matcher(line).find()) {
            return true;
        }
        String text = Page.withoutSpans(line);
        return !(published && SOURCED.matcher(line).matches())
                && (figures ? Stream.of(FIGURE, CELL) : Stream.of(RATE))
                        .anyMatch(pattern -> pattern.matcher(text).find());
    }
}
