package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** All points of a table are run again, or none. */
class WholeTableTest {

    private static final Path REPORT = Path.of("kv.json");
    private static final String LOW = WholeTable.trace("OLTP", 1869, "adaptive", 1, false);
    private static final String HIGH = WholeTable.trace("OLTP", 74752, "adaptive", 1, false);

    @TempDir
    Path directory;

    @Test
    void pointsAreTheRowsOfAReport() throws Exception {
        String rows = String.join(
                "}, {",
                "'part': 'traces', 'trace': 'OLTP', 'objects': 1869, 'policy': 'adaptive', 'clients': 1, 'requests': 9",
                "'part': 'traces', 'trace': 'OLTP', 'objects': 1869, 'policy': 'lru', 'clients': 16, 'miss_ns': 5,"
                        + " 'requests': 9",
                "'part': 'traces', 'trace': 'OLTP', 'objects': 1869, 'policy': 'reference', 'lcs:lru': 41.6",
                "'part': 'traces', 'trace': 'mean', 'policy': 'adaptive', 'clients': 1, 'points': 1",
                "'part': 'ycsb', 'workload': 'A', 'keys': 'zipfian', 'sessions': 8, 'model': 'none'",
                "'part': 'ycsb', 'engine': 'redis', 'workload': 'A', 'keys': 'zipfian', 'sessions': 8, 'model': 'none'",
                "'part': 'ycsb', 'workload': 'A', 'keys': 'zipfian', 'sessions': 8, 'model': 'connectx5'",
                "'part': 'ycsb', 'workload': 'B', 'keys': 'uniform', 'sessions': 1",
                "'part': 'ycsb', 'engine': 'memcached', 'operation': 'absent', 'absent': 'not installed'",
                "'part': 'worth', 'variant': 'all parts', 'sessions': 64",
                "'part': 'messages', 'operation': 'get-hit', 'sessions': 1",
                "'other': 1");
        Path file = Files.writeString(
                directory.resolve("kv.json"),
                "{'device': 'soft0', 'rows': [{".replace('\'', '"') + rows.replace('\'', '"') + "}]}");
        assertEquals(
                List.of(
                        LOW,
                        WholeTable.trace("OLTP", 1869, "lru", 16, true),
                        WholeTable.ycsb("A", "zipfian", 8, "none"),
                        WholeTable.ycsb("A", "zipfian", 8, "connectx5"),
                        WholeTable.ycsb("B", "uniform", 1, "none"),
                        WholeTable.worth(64),
                        "messages"),
                List.copyOf(WholeTable.points(file)));
    }

    @Test
    void whatIsNoReportHasNoPoints() throws Exception {
        assertEquals(Set.of(), WholeTable.points(directory.resolve("none")));
        for (String text : new String[] {"", "{", "[]", "{}", "{\"rows\": 1}", "{\"rows\": [1, null]}"}) {
            Path file = Files.writeString(directory.resolve("kv.json"), text);
            assertEquals(Set.of(), WholeTable.points(file), text);
        }
    }

    @Test
    void singlePointsOfATableAreNotReplaced() {
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> WholeTable.check(REPORT, Set.of(LOW, HIGH), Set.of(LOW)));
        assertEquals(
                "--json kv.json: its tables have 2 points, of which this run lacks 1 (" + HIGH
                        + "); measure all of them again, or write another file",
                refused.getMessage());
    }

    @Test
    void aWholeTableIsReplaced() {
        assertDoesNotThrow(() -> WholeTable.check(REPORT, Set.of(LOW, HIGH), Set.of(LOW, HIGH)));
        String more = WholeTable.trace("P3", 7625, "adaptive", 1, false);
        assertDoesNotThrow(() -> WholeTable.check(REPORT, Set.of(LOW, HIGH), Set.of(LOW, HIGH, more)));
    }

    /** Tables of other parts are not mixed with this run's: they are gone as a whole. */
    @Test
    void anotherPartIsNoPartOfTheTable() {
        assertDoesNotThrow(() -> WholeTable.check(REPORT, Set.of(LOW, "messages"), Set.of(WholeTable.worth(1))));
        assertThrows(
                IllegalArgumentException.class,
                () -> WholeTable.check(REPORT, Set.of(LOW, WholeTable.worth(8)), Set.of(WholeTable.worth(1))));
    }
}
