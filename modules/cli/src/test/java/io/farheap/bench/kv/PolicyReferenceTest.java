package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.kv.ReferencePoint.PolicyHits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hit ratios of other policies are read as they are, and the best of them is the one that has the most hits. */
class PolicyReferenceTest {

    private static final String HEADER =
            "trace\tfrac\tsize\tlcs:lru\tlcs:arc\tlcs:belady\tcaf:irr.Lirs\tcaf:opt.Clairvoyant";

    @TempDir
    Path directory;

    private static PolicyReference of(String... lines) {
        return PolicyReference.of("file", List.of(lines));
    }

    private static String refused(String... lines) {
        return assertThrows(IllegalArgumentException.class, () -> of(lines)).getMessage();
    }

    @Test
    void ratiosAreByTraceAndSize() throws Exception {
        Path file = Files.writeString(
                directory.resolve("hits.tsv"),
                HEADER + "\nOLTP\t0.01\t1869\t41.6\t45.4\t59.8\t41.71\t59.77\n"
                        + "OLTP\t0.05\t9344\t60.1\t61.0\t72.6\t59.69\t72.64\n\n");
        PolicyReference reference = PolicyReference.read(file);
        ReferencePoint point = reference.at("OLTP", 1869);
        assertEquals(
                List.of("lcs:lru", "lcs:arc", "lcs:belady", "caf:irr.Lirs", "caf:opt.Clairvoyant"),
                List.copyOf(point.hits().keySet()));
        assertEquals(41.71, point.hits().get("caf:irr.Lirs"));
        assertEquals(60.1, reference.at("OLTP", 9344).hits().get("lcs:lru"));
        assertNull(reference.at("OLTP", 1870));
        assertNull(reference.at("P3", 1869));
    }

    @Test
    void theBestIsOneThatCanBeBuilt() {
        ReferencePoint point =
                of(HEADER, "a\t0.01\t10\t41.6\t45.4\t59.8\t41.71\t59.77").at("a", 10);
        assertEquals(new PolicyHits("lcs:arc", 45.4), point.best());
        assertEquals(new PolicyHits("lcs:belady", 59.8), point.bound());
    }

    @Test
    void theFirstOfEqualsIsTheBest() {
        ReferencePoint point =
                of(HEADER, "a\t0.01\t10\t45.4\t45.4\t59.8\t45.40\t59.80").at("a", 10);
        assertEquals("lcs:lru", point.best().policy());
    }

    /** A policy that was not measured, and one with no hit at all. */
    @Test
    void aCellMayBeEmptyOrZero() {
        ReferencePoint point = of(HEADER, "a\t0.01\t10\t\t0.0\t-\t\t").at("a", 10);
        assertEquals(Map.of("lcs:arc", 0.0), point.hits());
        assertEquals(new PolicyHits("lcs:arc", 0), point.best());
        assertNull(point.bound());
        assertNull(of(HEADER, "a\t0.01\t10\t\t\t59.8\t\t").at("a", 10).best());
    }

    /** A policy without a figure at one of the points is in no mean: its mean would be of other points. */
    @Test
    void meansAreOfTheSamePoints() {
        PolicyReference reference = of(HEADER, "a\t0.01\t10\t40\t50\t60\t\t60", "b\t0.01\t10\t20\t10\t30\t90\t30");
        Map<String, Double> means = ReferencePoint.means(List.of(reference.at("a", 10), reference.at("b", 10)));
        assertEquals(Map.of("lcs:lru", 30.0, "lcs:arc", 30.0, "lcs:belady", 45.0, "caf:opt.Clairvoyant", 45.0), means);
        assertEquals(Map.of(), ReferencePoint.means(List.of()));
    }

    @Test
    void whatIsNoReferenceIsRefusedWithItsLine() {
        for (String header : new String[] {"trace\tsize", "trace\tlcs:lru", "size\tlcs:lru", "{}", ""}) {
            assertTrue(refused(header).startsWith("--reference file: the first line"), header);
        }
        assertTrue(assertThrows(IllegalArgumentException.class, () -> PolicyReference.of("file", List.of()))
                .getMessage()
                .startsWith("--reference file: the first line"));
        assertEquals("--reference file, line 2: it has 3 cells, and the first line 8", refused(HEADER, "a\t0.01\t10"));
        assertEquals(
                "--reference file, line 2: \"0\" is no size; it is a whole number from 1",
                refused(HEADER, "a\t0.01\t0\t1\t1\t1\t1\t1"));
        for (String ratio : new String[] {"x", "-1", "100.1", "NaN", "1e1"}) {
            assertEquals(
                    "--reference file, line 3: \"" + ratio + "\" is no hit ratio; it is 0 to 100 per cent",
                    refused(HEADER, "a\t0.01\t10\t1\t1\t1\t1\t1", "a\t0.05\t50\t1\t" + ratio + "\t1\t1\t1"));
        }
        assertEquals(
                "--reference file, line 3: a second line for a with 10 objects",
                refused(HEADER, "a\t0.01\t10\t1\t1\t1\t1\t1", "a\t0.01\t10\t1\t1\t1\t1\t1"));
        Path none = directory.resolve("none");
        assertTrue(assertThrows(IllegalArgumentException.class, () -> PolicyReference.read(none))
                .getMessage()
                .startsWith("--reference " + none + ": cannot read this file"));
    }
}
