package io.farheap.bench.against;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The differences between two builds. Each three runs in succession give a ratio of the builds, and a factor between
 * the two runs of the same build. A disturbed run enters both, so it also raises the range that counts as noise.
 */
final class Comparison {

    private static final double SAME_SHARE = 0.9;

    private final List<BenchRun> runs;
    private final List<RunTriple> triples;
    private final Map<String, JsonObject> rows = new LinkedHashMap<>();
    private final Set<String> onlyThis = new LinkedHashSet<>();
    private final Set<String> onlyOther = new LinkedHashSet<>();
    private final List<Difference> differences = new ArrayList<>();

    /** @param runs of the two builds in turns, three at least */
    Comparison(RowShape shape, List<BenchRun> runs) {
        this.runs = runs;
        triples = IntStream.range(2, runs.size())
                .mapToObj(last -> new RunTriple(runs.get(last - 2), runs.get(last - 1), runs.get(last)))
                .toList();
        runs.forEach(run -> run.rows().forEach(rows::putIfAbsent));
        for (String row : rows.keySet()) {
            boolean ours = has(true, row);
            boolean theirs = has(false, row);
            if (ours && theirs) {
                shape.figures().stream()
                        .map(figure -> difference(row, figure))
                        .filter(Objects::nonNull)
                        .forEach(differences::add);
            } else {
                (ours ? onlyThis : onlyOther).add(row);
            }
        }
    }

    /**
     * Returns the differences by row, and then by figure, without figures that one of the builds lacks in all of its
     * runs.
     */
    List<Difference> differences() {
        return differences;
    }

    /**
     * Returns, by the row's name, differences that are greater than both the notable difference and the noise between
     * runs of one build.
     */
    Map<String, List<Difference>> beyond() {
        Map<String, List<Difference>> beyond = new LinkedHashMap<>();
        differences.stream()
                .filter(difference -> difference.verdict() != Difference.Verdict.SAME)
                .forEach(difference -> beyond.computeIfAbsent(difference.row(), row -> new ArrayList<>())
                        .add(difference));
        return beyond;
    }

    /** Returns how many rows both builds have. */
    int matched() {
        return rows.size() - onlyThis.size() - onlyOther.size();
    }

    Set<String> onlyThis() {
        return onlyThis;
    }

    Set<String> onlyOther() {
        return onlyOther;
    }

    /** Returns a row of this name, of either build. */
    JsonObject row(String name) {
        return Objects.requireNonNull(rows.get(name));
    }

    private boolean has(boolean ours, String row) {
        return runs.stream().anyMatch(run -> run.ours() == ours && run.rows().containsKey(row));
    }

    private @Nullable Difference difference(String row, Figure figure) {
        double[] ours = known(runs.stream().filter(BenchRun::ours).toList(), run -> run.value(row, figure));
        double[] theirs = known(runs.stream().filter(run -> !run.ours()).toList(), run -> run.value(row, figure));
        if (ours.length == 0 || theirs.length == 0) {
            return null;
        }
        double[] ratios = known(triples, triple -> triple.ratio(row, figure));
        double[] same = known(triples, triple -> triple.same(row, figure));
        return new Difference(
                row,
                figure,
                quantile(ours, 0.5),
                quantile(theirs, 0.5),
                quantile(ratios, 0.5),
                quantile(ratios, 0.25),
                quantile(ratios, 0.75),
                quantile(same, SAME_SHARE));
    }

    private static <T> double[] known(List<T> from, ToDoubleFunction<T> value) {
        return from.stream().mapToDouble(value).filter(Double::isFinite).toArray();
    }

    /**
     * Returns a quantile, interpolated if it falls between two values: the median of two is neither of them. NaN of no
     * values.
     */
    private static double quantile(double[] values, double share) {
        if (values.length == 0) {
            return Double.NaN;
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double place = share * (sorted.length - 1);
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }
}
