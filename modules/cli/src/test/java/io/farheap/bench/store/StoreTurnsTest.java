package io.farheap.bench.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two sides take turns, and are compared by medians. */
class StoreTurnsTest {

    private final StringBuilder order = new StringBuilder();

    private StoreTurns.Run<RuntimeException> run(char name, Double... figures) {
        Iterator<Double> left = List.of(figures).iterator();
        return () -> {
            order.append(name);
            return left.next();
        };
    }

    private static StoreTurns take(
            boolean rotates,
            int turns,
            StoreTurns.Run<RuntimeException> side,
            StoreTurns.Run<RuntimeException> other,
            Runnable warm) {
        return StoreTurns.take(rotates, turns, List.of(new StoreTurns.Pair<>(side, other)), warm)
                .getFirst();
    }

    private JsonObject row(StoreTurns turns) {
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench store");
        turns.putRest(turns.putRatio(report.row()), "ops_per_s", "quiet_ops_per_s");
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void theOtherSideIsTheFirstInEachTurnAndThreeTurnsDoNotCount() {
        StoreTurns turns = take(
                true,
                3,
                run('s', 9.0, 9.0, 9.0, 100.0, 200.0, 300.0, 200.0),
                run('o', 9.0, 9.0, 9.0, 1000.0, 400.0, 600.0, 600.0),
                () -> order.append('|'));
        // A fourth turn counts, so that each is the first as often.
        assertEquals("ossoos|soossoos", order.toString());
        JsonObject row = row(turns);
        // The medians are 200 and 600.
        assertEquals(0.333, row.get("ratio").getAsDouble());
        assertEquals(0.1, row.get("ratio_least").getAsDouble());
        assertEquals(0.5, row.get("ratio_most").getAsDouble());
        assertEquals(175, row.get("ops_per_s_p25").getAsDouble());
        assertEquals(700, row.get("quiet_ops_per_s_p75").getAsDouble());
        assertTrue(row.get("settled").getAsBoolean());
        assertFalse(row.get("invalid").getAsBoolean());
    }

    /** A checkpoint just after another one would find less to write. */
    @Test
    void theOtherSideIsAlwaysTheFirstIfTheyDoNotRotate() {
        take(false, 2, run('s', 9.0, 9.0, 9.0, 1.0, 2.0), run('o', 9.0, 9.0, 9.0, 1.0, 2.0), () -> order.append('|'));
        assertEquals("ososos|osos", order.toString());
    }

    @Test
    void aFourthTurnDoesNotCountIfOnlyThenThreeAgree() {
        StoreTurns turns = take(
                true, 1, run('s', 5.0, 9.0, 9.0, 9.0, 1.0), run('o', 1.0, 1.0, 1.0, 1.0, 1.0), () -> order.append('|'));
        assertEquals("ossoosso|so", order.toString());
        assertTrue(row(turns).get("settled").getAsBoolean());
    }

    @Test
    void sidesThatDoNotAgreeInFiveTurnsSaySo() {
        StoreTurns turns = take(
                true,
                1,
                run('s', 5.0, 7.0, 9.0, 12.0, 15.0, 1.0),
                run('o', 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
                () -> order.append('|'));
        assertEquals("ossoossoos|so", order.toString());
        assertFalse(row(turns).get("settled").getAsBoolean());
        assertEquals("not settled", turns.remark());
    }

    /** Rows of one table stand below each other: no kind of checkpoint may always be the first. */
    @Test
    void eachPairHasEachPlaceEquallyOften() {
        List<StoreTurns.Pair<RuntimeException>> pairs = new ArrayList<>();
        for (char name = 'a'; name <= 'c'; name++) {
            char one = name;
            pairs.add(new StoreTurns.Pair<>(() -> 1, () -> {
                order.append(one);
                return 1;
            }));
        }
        List<StoreTurns> turns = StoreTurns.take(false, 4, pairs, () -> order.setLength(0));
        assertEquals(3, turns.size());
        assertEquals(3 * StoreTurns.counted(3, 4), order.length());
        int[][] places = new int[3][3];
        for (int i = 0; i < order.length(); i++) {
            places[order.charAt(i) - 'a'][i % 3]++;
        }
        for (int[] ofPair : places) {
            assertArrayEquals(new int[] {2, 2, 2}, ofPair);
        }
    }
}
