package io.farheap.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What was played several times has medians and quartiles of its plays. */
class RepeatedPlaysTest {

    private final RepeatedPlays plays = new RepeatedPlays(Set.of("hit_pct", "moved"), Set.of("max_ns"), "seconds");

    private static JsonObject row(String fields) {
        return JsonParser.parseString("{" + fields.replace('\'', '"') + "}").getAsJsonObject();
    }

    private List<JsonObject> merged() {
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench kv");
        plays.put(report);
        return report.rows();
    }

    @Test
    void aRowHasTheMedianTheQuartilesAndTheLongestOfItsPlays() {
        plays.add(List.of(row("'policy': 'lru', 'hit_pct': 10, 'max_ns': 5, 'phase': 1")));
        plays.add(List.of(row("'policy': 'lru', 'hit_pct': 30, 'max_ns': 9, 'phase': 1")));
        plays.add(List.of(row("'policy': 'lru', 'hit_pct': 20, 'max_ns': 7, 'phase': 1")));
        JsonObject row = merged().getFirst();
        assertEquals(20, row.get("hit_pct").getAsDouble());
        assertEquals(15, row.get("hit_pct_p25").getAsDouble());
        assertEquals(25, row.get("hit_pct_p75").getAsDouble());
        assertEquals(9, row.get("max_ns").getAsDouble());
        assertEquals(7, row.get("max_ns_median").getAsDouble());
        assertEquals("lru", row.get("policy").getAsString());
        assertEquals(1, row.get("phase").getAsLong());
        assertEquals(3, row.get("plays").getAsInt());
    }

    /** As growths of a map: they differ in their figures alone, and a play may have more of them. */
    @Test
    void rowsOfAPlayThatLookAlikeBelongToThoseAtTheSamePlaceOfOthers() {
        plays.add(List.of(row("'bytes': 1, 'hit_pct': 10"), row("'bytes': 1, 'hit_pct': 50")));
        plays.add(List.of(
                row("'bytes': 1, 'hit_pct': 20"), row("'bytes': 1, 'hit_pct': 60"), row("'bytes': 1, 'hit_pct': 90")));
        List<JsonObject> rows = merged();
        assertEquals(
                List.of(15.0, 55.0, 90.0),
                rows.stream().map(row -> row.get("hit_pct").getAsDouble()).toList());
        assertEquals(1, rows.getLast().get("plays").getAsInt());
    }

    /** The dip is in another window of each play: a median of windows at the same place would not have it. */
    @Test
    void windowsOfAllPlaysRemain() {
        plays.add(List.of(
                row("'bytes': 1, 'seconds': 0.1, 'hit_pct': 5"),
                row("'bytes': 1, 'seconds': 0.2, 'hit_pct': 90"),
                row("'bytes': 1, 'seconds': 0.3, 'hit_pct': 90"),
                row("'moved': 10")));
        plays.add(List.of(
                row("'bytes': 1, 'seconds': 0.1, 'hit_pct': 90"),
                row("'bytes': 1, 'seconds': 0.2, 'hit_pct': 7"),
                row("'moved': 20")));
        plays.add(List.of(row("'bytes': 1, 'seconds': 0.1, 'hit_pct': 90"), row("'moved': 60")));
        List<JsonObject> windows =
                merged().stream().filter(row -> row.has("seconds")).toList();
        assertEquals(
                List.of(5.0, 90.0, 90.0, 90.0, 7.0, 90.0),
                windows.stream().map(row -> row.get("hit_pct").getAsDouble()).toList());
        assertEquals(
                List.of(1, 1, 1, 2, 2, 3),
                windows.stream().map(row -> row.get("play").getAsInt()).toList());
        assertEquals(
                List.of(20.0),
                merged().stream()
                        .filter(row -> row.has("moved"))
                        .map(row -> row.get("moved").getAsDouble())
                        .toList());
    }

    @Test
    void aFigureThatNoPlayHasIsNull() {
        plays.add(List.of(row("'bytes': 1, 'hit_pct': null")));
        JsonObject row = merged().getFirst();
        assertTrue(row.get("hit_pct").isJsonNull());
        assertTrue(row.get("hit_pct_p25").isJsonNull());
    }
}
