package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The run without a model is before and after the one with it, as often, and rows are of both halves. */
class HalvedRowsTest {

    private static JsonObject row(String fields) {
        return JsonParser.parseString("{" + fields.replace('\'', '"') + "}").getAsJsonObject();
    }

    @Test
    void aFigureIsTheMeanOfBothHalves() {
        JsonObject merged = HalvedRows.merge(
                row(
                        "'workload': 'A', 'sessions': 8, 'ops_per_s': 100, 'settled': true, 'late_pct': 0.5, 'invalid': false"),
                row(
                        "'workload': 'A', 'sessions': 8, 'ops_per_s': 300, 'settled': false, 'late_pct': 2, 'invalid': true"));
        assertEquals(
                row(
                        "'workload': 'A', 'sessions': 8, 'ops_per_s': 200.0, 'settled': false, 'late_pct': 2.0, 'invalid': true"),
                merged);
    }

    @Test
    void aFigureThatOneHalfLacksIsLacking() {
        assertEquals(row("'ops_per_s': null"), HalvedRows.merge(row("'ops_per_s': 5"), row("'ops_per_s': null")));
        assertEquals(row("'ops_per_s': null"), HalvedRows.merge(row("'ops_per_s': null"), row("'ops_per_s': 5")));
    }

    @Test
    void aHalfThatWasNotJudgedHidesNoInvalidOne() {
        String judged = "'late_pct': 2.0, 'invalid': true";
        String not = "'late_pct': null, 'invalid': false";
        assertEquals(row(judged), HalvedRows.merge(row(judged), row(not)));
        assertEquals(row(judged), HalvedRows.merge(row(not), row(judged)));
        assertEquals(row(not), HalvedRows.merge(row("'late_pct': 0.5, 'invalid': false"), row(not)));
    }

    /** The mean of the sessions of two different rows would be no error, and no figure either. */
    @Test
    void halvesWithOtherMeansOrFieldsAreRefused() {
        for (String name :
                List.of("sessions", "threads", "bytes_local", "bytes_remote", "cores", "in_flight", "group")) {
            JsonObject one = row("'" + name + "': 1");
            JsonObject other = row("'" + name + "': 8");
            assertThrows(IllegalArgumentException.class, () -> HalvedRows.merge(one, other), name);
        }
        assertThrows(IllegalArgumentException.class, () -> HalvedRows.merge(row("'a': 1"), row("'a': 1, 'p99_ns': 2")));
        assertThrows(IllegalArgumentException.class, () -> HalvedRows.merge(row("'a': 1, 'p99_ns': 2"), row("'a': 1")));
    }

    @Test
    void halvesWithOtherRowsAreRefused() {
        assertThrows(
                IllegalArgumentException.class, () -> HalvedRows.merge(row("'workload': 'A'"), row("'workload': 'B'")));
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench kv");
        assertThrows(
                IllegalArgumentException.class,
                () -> HalvedRows.put(report, List.of(row("'workload': 'A'")), List.of()));
    }

    /** Without a model, with it, with it, and without it: both have the same mean place. */
    @Test
    void theRunWithoutAModelIsTheFirstAndTheLast() throws Exception {
        StringBuilder order = new StringBuilder();
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench kv");
        List<JsonObject> withModel = new ArrayList<>();
        YcsbWithModel.beside(
                report,
                5,
                (half, turns) -> {
                    order.append('o').append(turns);
                    half.row().put("ops_per_s", 10.0 * order.length());
                },
                turns -> {
                    order.append('m').append(turns);
                    return List.of(row("'ops_per_s': " + order.length()));
                },
                withModel::add);
        assertEquals("o3m3m3o3", order.toString());
        assertEquals(50, report.rows().getFirst().get("ops_per_s").getAsDouble());
        assertEquals(List.of(row("'ops_per_s': 5.0")), withModel);
    }
}
