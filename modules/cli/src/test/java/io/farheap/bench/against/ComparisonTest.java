package io.farheap.bench.against;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonParser;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The differences that a comparison finds between two builds, from made-up runs. */
class ComparisonTest {

    private static final Figure TIME = Figure.time("ns");
    private static final Figure TIME_OVER_C = Figure.time("ns").over("c_ns", "C");
    private static final Figure RATE = Figure.rate("ops_per_s");
    private static final Figure DROP = Figure.drop("drop_pct");
    private static final double EXACT = 1e-9;

    private static RowShape shape(Figure... figures) {
        return new RowShape(List.of("op", "size"), List.of(figures));
    }

    /** Runs of this build and the other in turns, each with these rows. */
    private static Comparison compare(RowShape shape, String... rows) {
        List<BenchRun> runs = new ArrayList<>();
        for (String some : rows) {
            JsonArray array = JsonParser.parseString("[" + some + "]").getAsJsonArray();
            runs.add(new BenchRun(runs.size() % 2 == 0, shape.byName(array)));
        }
        return new Comparison(shape, runs);
    }

    /** The only difference of runs that have one row with this field. */
    private static Difference of(Figure figure, double... values) {
        String[] rows = new String[values.length];
        for (int i = 0; i < values.length; i++) {
            rows[i] = "{op: read, size: 8, " + figure.field() + ": " + values[i] + "}";
        }
        List<Difference> differences = compare(shape(figure), rows).differences();
        assertEquals(1, differences.size());
        return differences.getFirst();
    }

    @Test
    void ofTimesLessIsBetter() {
        Difference slower = of(TIME, 30, 20, 30);
        assertEquals(1.5, slower.ratio(), EXACT);
        assertEquals(1, slower.same(), EXACT);
        assertEquals(30, slower.ours(), EXACT);
        assertEquals(20, slower.theirs(), EXACT);
        assertEquals(Difference.Verdict.SLOWER, slower.verdict());
        assertEquals("ns 1.50 x slower", slower.sentence());
        assertEquals(Difference.Verdict.FASTER, of(TIME, 20, 30, 20).verdict());
    }

    @Test
    void ofRatesMoreIsBetter() {
        Difference faster = of(RATE, 30, 20, 30);
        assertEquals(1.5, faster.ratio(), EXACT);
        assertEquals(Difference.Verdict.FASTER, faster.verdict());
        assertEquals(Difference.Verdict.SLOWER, of(RATE, 20, 30, 20).verdict());
    }

    @Test
    void ofDropsWhatIsLeftIsCompared() {
        Difference faster = of(DROP, 20, 60, 20);
        assertEquals(20, faster.ours(), EXACT);
        assertEquals(60, faster.theirs(), EXACT);
        assertEquals(2, faster.ratio(), EXACT);
        assertEquals(Difference.Verdict.FASTER, faster.verdict());
        assertEquals(Difference.Verdict.SAME, of(DROP, 0, -0.5, 0).verdict());
        Difference nothingLeft = of(DROP, 20, 100, 20);
        assertTrue(Double.isNaN(nothingLeft.ratio()));
        assertEquals(Difference.Verdict.SAME, nothingLeft.verdict());
    }

    @Test
    void driftOfTheMachineChangesNoRatio() {
        Difference difference = of(TIME, 10, 20 * 1.1, 10 * 1.21, 20 * 1.331, 10 * 1.4641, 20 * 1.61051);
        assertEquals(0.5, difference.ratio(), EXACT);
        assertEquals(0.5, difference.low(), EXACT);
        assertEquals(0.5, difference.high(), EXACT);
        assertEquals(1.21, difference.same(), EXACT);
    }

    @Test
    void whatRunsOfOneBuildDifferByIsNoDifference() {
        assertEquals(Difference.Verdict.SAME, of(TIME, 10.2, 10, 10.2).verdict());
        assertEquals(Difference.Verdict.SLOWER, of(TIME, 10.5, 10, 10.5).verdict());
        assertEquals(Difference.Verdict.SAME, of(TIME, 10, 10, 11.025).verdict());
        // One run of the other build was disturbed.
        Difference disturbed = of(TIME, 10, 10, 10, 100, 10, 10);
        assertEquals(10, disturbed.same(), EXACT);
        assertEquals(Difference.Verdict.SAME, disturbed.verdict());
    }

    @Test
    void aBaselineLeavesTheMachinesSpeedOut() {
        Comparison comparison = compare(
                shape(TIME, TIME_OVER_C),
                "{op: read, size: 8, ns: 30, c_ns: 20}",
                "{op: read, size: 8, ns: 60, c_ns: 40}",
                "{op: read, size: 8, ns: 30, c_ns: 20}");
        assertEquals(
                List.of("ns", "ns/C"),
                comparison.differences().stream()
                        .map(difference -> difference.figure().label())
                        .toList());
        assertEquals(0.5, comparison.differences().getFirst().ratio(), EXACT);
        assertEquals(1, comparison.differences().getLast().ratio(), EXACT);
        assertEquals(1.5, comparison.differences().getLast().theirs(), EXACT);
    }

    @Test
    void rowsAreMatchedByWhatTellsThemApart() {
        Comparison comparison = compare(
                shape(TIME),
                "{op: read, size: 8, ns: 10}, {op: write, size: 8, ns: 100}, {op: cas, size: 8, ns: 1}",
                "{op: write, size: 8, ns: 50}, {op: read, size: 8, ns: 10}, {op: read, size: 64, ns: 1}",
                "{op: read, size: 8, ns: 10}, {op: write, size: 8, ns: 100}, {op: cas, size: 8, ns: 1}");
        assertEquals(2, comparison.matched());
        assertEquals(
                List.of("read 8", "write 8"),
                comparison.differences().stream().map(Difference::row).toList());
        assertEquals(1, comparison.differences().getFirst().ratio(), EXACT);
        assertEquals(2, comparison.differences().getLast().ratio(), EXACT);
        assertEquals(Set.of("cas 8"), comparison.onlyThis());
        assertEquals(Set.of("read 64"), comparison.onlyOther());
        assertEquals(Set.of("write 8"), comparison.beyond().keySet());
    }

    @Test
    void aFigureThatOneBuildLacksIsLeftOut() {
        assertEquals(
                List.of(),
                compare(
                                shape(TIME, RATE),
                                "{op: read, size: 8, ns: null, ops_per_s: 1}",
                                "{op: read, size: 8, ns: 10}",
                                "{op: read, size: 8, ns: null, ops_per_s: 1}")
                        .differences());
    }

    @Test
    void theTableEndsWithWhatToLookAt() {
        RowShape shape = shape(TIME, RATE);
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        Comparison comparison = compare(
                shape,
                "{op: read, size: 8, ns: 10, ops_per_s: 2e6}, {op: write, size: 8, ns: 12}",
                "{op: read, size: 8, ns: 10, ops_per_s: 4e6}, {op: cas, size: 8, ns: 12}",
                "{op: read, size: 8, ns: 10, ops_per_s: 2e6}, {op: write, size: 8, ns: 12}");
        new ComparisonTable(new PrintStream(printed, true), shape, comparison).print();
        List<String> lines = printed.toString(StandardCharsets.UTF_8).lines().toList();
        assertEquals(6, lines.size(), printed::toString);
        assertEquals(
                "read 8 ops_per_s 2,000,000 4,000,000 0.500 (0.500..0.500) 1.000 above 1 slower",
                lines.get(2).replaceAll(" +", " "));
        assertEquals("write 8: only this build has this row", lines.get(3));
        assertEquals("cas 8: only the other build has this row", lines.get(4));
        assertEquals(
                "1 of 1 rows differ by more than 1.03 x and by more than two runs of one build do: "
                        + "read 8 (ops_per_s 2.00 x slower)",
                lines.get(5));
    }
}
