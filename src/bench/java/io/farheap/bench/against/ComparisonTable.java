package io.farheap.bench.against;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Prints a comparison for people: a line for each figure of each row, and one line that names the rows to look at. */
final class ComparisonTable {

    private static final int MANY = 1000;

    private final PrintStream out;
    private final Comparison comparison;
    private final String names;
    private final String line;

    /** @param shape of the compared rows */
    ComparisonTable(PrintStream out, RowShape shape, Comparison comparison) {
        this.out = out;
        this.comparison = comparison;
        names = "#" + String.join(" ", shape.identity());
        int widest = comparison.differences().stream()
                .mapToInt(difference -> difference.row().length())
                .reduce(names.length(), Math::max);
        int longest = shape.figures().stream()
                .mapToInt(figure -> figure.label().length())
                .max()
                .orElse(1);
        line = "%-" + widest + "s  %-" + longest + "s%14s%14s%8s%17s%8s%9s%8s%n";
    }

    void print() {
        out.printf(line, names, "figure", "this", "other", "ratio", "(25%..75%)", "same", "better", "");
        comparison.differences().forEach(this::print);
        only("this", comparison.onlyThis());
        only("the other", comparison.onlyOther());
        out.println(verdict());
    }

    private void print(Difference of) {
        boolean compared = !Double.isNaN(of.ratio());
        out.printf(
                line,
                of.row(),
                of.figure().label(),
                value(of.ours()),
                value(of.theirs()),
                compared ? decimals(of.ratio()) : "-",
                compared ? "(" + decimals(of.low()) + ".." + decimals(of.high()) + ")" : "-",
                compared ? decimals(of.same()) : "-",
                of.figure().lessIsBetter() ? "below 1" : "above 1",
                of.verdict() == Difference.Verdict.SAME
                        ? ""
                        : of.verdict().name().toLowerCase(Locale.ROOT));
    }

    private void only(String build, Iterable<String> rows) {
        rows.forEach(row -> out.println(row + ": only " + build + " build has this row"));
    }

    private String verdict() {
        Map<String, List<Difference>> beyond = comparison.beyond();
        String named = beyond.entrySet().stream()
                .map(row -> row.getKey() + " ("
                        + row.getValue().stream().map(Difference::sentence).collect(Collectors.joining(", ")) + ")")
                .collect(Collectors.joining("; "));
        return String.format(
                Locale.ROOT,
                "%d of %d rows differ by more than %.2f x and by more than two runs of one build do%s",
                beyond.size(),
                comparison.matched(),
                Difference.NOTABLE,
                named.isEmpty() ? "" : ": " + named);
    }

    private static String value(double value) {
        return String.format(Locale.ROOT, Math.abs(value) < MANY ? "%.2f" : "%,.0f", value);
    }

    private static String decimals(double ratio) {
        return String.format(Locale.ROOT, "%.3f", ratio);
    }
}
