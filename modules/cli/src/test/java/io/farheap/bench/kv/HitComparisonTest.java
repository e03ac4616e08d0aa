package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.bench.kv.ReferencePoint.PolicyHits;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each point has the best other policy by name, and each mean is of the points that the map has played. */
class HitComparisonTest {

    private static final PolicyReference REFERENCE = PolicyReference.of(
            "file",
            List.of(
                    "trace\tsize\tlcs:lru\tlcs:arc\tlcs:belady",
                    "a\t10\t40\t50\t70",
                    "a\t20\t60\t55\t80",
                    "b\t10\t20\t25\t30"));

    @TempDir
    Path directory;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(printed, true, StandardCharsets.UTF_8);
    private final HitComparison comparison = new HitComparison(REFERENCE);

    private String add(TestReport report, String trace, long objects, String policy, double percent) {
        return comparison.add(report.report().row(), trace, objects, policy, 1, percent);
    }

    @Test
    void aPointHasTheBestOtherPolicy() throws Exception {
        TestReport report = new TestReport(directory);
        assertEquals("lcs:arc 50.00", add(report, "a", 10, "adaptive", 52));
        assertEquals("lcs:lru 60.00", add(report, "a", 20, "adaptive", 57));
        assertEquals("no reference", add(report, "c", 10, "adaptive", 99));
        List<JsonObject> rows = report.rows();
        assertEquals(
                List.of("best_policy", "best_hit_pct", "points_above_best", "bound_policy", "bound_hit_pct"),
                List.copyOf(rows.getFirst().keySet()));
        assertEquals("lcs:arc", rows.getFirst().get("best_policy").getAsString());
        assertEquals(50, rows.getFirst().get("best_hit_pct").getAsDouble());
        assertEquals(2, rows.getFirst().get("points_above_best").getAsDouble());
        assertEquals("lcs:belady", rows.getFirst().get("bound_policy").getAsString());
        assertEquals(-3, rows.get(1).get("points_above_best").getAsDouble());
        rows.get(2).entrySet().forEach(field -> assertTrue(field.getValue().isJsonNull(), field::toString));
    }

    @Test
    void meansAreOfPointsWithAReference() {
        TestReport report = new TestReport(directory);
        add(report, "a", 10, "adaptive", 52);
        add(report, "a", 20, "adaptive", 57);
        add(report, "b", 10, "adaptive", 26);
        add(report, "c", 10, "adaptive", 99);
        add(report, "b", 10, "lru", 20);
        List<HitComparison.Means> means = comparison.means();
        assertEquals(
                new HitComparison.Means(
                        "adaptive",
                        1,
                        3,
                        45,
                        45,
                        new PolicyHits("lcs:arc", 130.0 / 3),
                        new PolicyHits("lcs:belady", 60)),
                means.getFirst());
        assertEquals(
                new HitComparison.Means(
                        "lru", 1, 1, 20, 25, new PolicyHits("lcs:arc", 25), new PolicyHits("lcs:belady", 30)),
                means.getLast());
        assertEquals(2, means.size());
    }

    @Test
    void everyOtherPolicyIsPrintedOnceForEachPoint() throws Exception {
        TestReport report = new TestReport(directory);
        add(report, "a", 10, "adaptive", 52);
        add(report, "a", 10, "paper", 51);
        comparison.printPoints(report.report(), out);
        comparison.printPoints(report.report(), out);
        comparison.printMeans(report.report(), out);
        String text = printed.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("others: lcs:lru 40.00 lcs:arc 50.00 lcs:belady 70.00"), text);
        assertEquals(text.indexOf("others: "), text.lastIndexOf("others: "), text);
        assertTrue(text.contains("others, means of 1 points: lcs:lru 40.00"), text);
        assertFalse(text.contains("no reference"), text);
        List<JsonObject> rows = report.rows();
        assertEquals(6, rows.size());
        JsonObject point = rows.get(2);
        assertEquals("reference", point.get("policy").getAsString());
        assertEquals(70, point.get("lcs:belady").getAsDouble());
        JsonObject mean = rows.get(3);
        assertEquals("mean", mean.get("trace").getAsString());
        assertEquals("adaptive", mean.get("policy").getAsString());
        assertEquals("lcs:arc", mean.get("best_policy").getAsString());
        assertEquals(50, mean.get("best_policy_hit_pct").getAsDouble());
        assertEquals(70, mean.get("bound_hit_pct").getAsDouble());
    }
}
