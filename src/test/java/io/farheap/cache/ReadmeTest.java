package io.farheap.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.docs.PageExample;
import io.farheap.server.contract.ServedCode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The examples of README.md and of the guides, compiled and run as they stand. Other tests run those of maps. */
@Isolated("it looks at what the process prints")
class ReadmeTest {

    private static final String PROCEDURES = "docs/guide/procedures.md";

    @TempDir
    private Path directory;

    private List<String> run(Cluster cluster, String page, String... classes) throws Exception {
        try (PageExample example = new PageExample(page, directory, classes)) {
            return example.run(cluster.addresses().toArray(String[]::new));
        }
    }

    @Test
    void theExampleWorks() throws Exception {
        try (Cluster cluster = new Cluster(16, 16)) {
            assertEquals(List.of("42"), run(cluster, "README.md", "Example"));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "cache, Records, 42",
        "cache, Futures, forty-two",
        "metrics, Metered, 1",
        "remote, Counter, '7 is done, it was 0'",
        "remote, Follow, 24",
        "resilience, Survivor, 42",
        "store, Tiers, 42"
    })
    void theGuidesExampleWorks(String guide, String name, String printed) throws Exception {
        try (Cluster cluster = new Cluster(32, 32)) {
            assertEquals(List.of(printed), run(cluster, "docs/guide/" + guide + ".md", name));
        }
    }

    @ParameterizedTest
    @EnumSource(ServedCode.class)
    void theProcedureWorks(ServedCode served) throws Exception {
        try (Cluster cluster = new Cluster().serving(served)) {
            cluster.add(16);
            cluster.serving(ServedCode.JAVA).add(16);
            assertEquals(List.of("50"), run(cluster, PROCEDURES, "Amounts", "SumSince"));
        }
    }

    @ParameterizedTest
    @EnumSource(ServedCode.class)
    void theCallThatStopsWorks(ServedCode served) throws Exception {
        try (Cluster cluster = new Cluster().serving(served)) {
            cluster.add(8);
            cluster.add(8);
            assertEquals(List.of("30"), run(cluster, "docs/guide/procedures-stop.md", "PatientSum", "SumOfList"));
        }
    }

    @Test
    void theRangeWorks() throws Exception {
        try (Cluster cluster = new Cluster().serving(ServedCode.JAVA)) {
            cluster.add(16);
            cluster.add(16);
            assertEquals(List.of("16384"), run(cluster, PROCEDURES, "AllAmounts", "AmountSum"));
        }
    }

    @Test
    void theProcedureIsTestedWithoutAServer() throws Exception {
        try (PageExample example = new PageExample(PROCEDURES, directory, "SumSinceCheck", "SumSince")) {
            assertEquals(List.of("20"), example.run());
        }
    }
}
