package io.farheap.bench.peers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Rotation;
import io.farheap.bench.report.Validity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.Test;

/** Peers take turns in an order that rotates, after they have settled, and an invalid row has no ratio. */
class PeerTurnsTest {

    private static final int BYTES = 8;

    private final List<String> turns = new ArrayList<>();
    private final Map<String, PeerRunner> peers = new LinkedHashMap<>();
    private final List<String> progress = new ArrayList<>();

    /** @param median by the number of its turn, from 0 */
    private void peer(String name, IntToDoubleFunction median) {
        peers.put(name, new PeerRunner() {
            private int turn;

            @Override
            public PeerTurn turn(PeerOperation operation, int bytes) {
                turns.add(name);
                return new PeerTurn(median.applyAsDouble(turn++), 1000);
            }

            @Override
            public void close() {}
        });
    }

    private PeersBench run(int rounds) throws Exception {
        PeersBench bench = new PeersBench(List.of(PeerOperation.GET), List.of(BYTES));
        try (ModelLateness lateness = new ModelLateness()) {
            bench.run(peers, lateness, rounds, progress::add);
        }
        return bench;
    }

    @Test
    void peersThatAgreeWarmUpForThreeRoundsAndThenTakeTheirTurnsInAnotherOrderEachTime() throws Exception {
        List<String> names = List.of("a", "b", "c");
        for (String name : names) {
            peer(name, turn -> 100);
        }
        PeersBench bench = run(6);
        Rotation rotation = new Rotation(names.size());
        List<String> expected = new ArrayList<>();
        for (int turn : new int[] {-1, -2, -3, 0, 1, 2, 3, 4, 5}) {
            for (int place : rotation.order(turn)) {
                expected.add(names.get(place));
            }
        }
        assertEquals(expected, turns);
        assertTrue(bench.rows().stream().allMatch(PeersBench.Row::settled));
        assertEquals("round 6 of 6", progress.getLast());
    }

    @Test
    void aPeerThatDoesNotSettleIsMeasuredAndItsRowSaysSo() throws Exception {
        peer("steady", turn -> 100);
        peer("faster and faster", turn -> 1000.0 / (turn + 1));
        List<PeersBench.Row> rows = run(2).rows();
        assertEquals(2 * (PeersBench.MOST_WARM_UPS + 2), turns.size());
        assertTrue(rows.get(0).settled());
        assertFalse(rows.get(1).settled());
        // The two turns after the warm-ups.
        double first = 1000.0 / (PeersBench.MOST_WARM_UPS + 1);
        double second = 1000.0 / (PeersBench.MOST_WARM_UPS + 2);
        assertEquals((first + second) / 2, rows.get(1).nanos().median(), 1e-9);
        assertEquals(2, rows.get(1).turns());
    }

    @Test
    void aRowHasItsMeansAndItsRatioToASession() {
        JsonObject row = json(row("Redis", 400, Validity.NO_MODEL), row(Peers.FARHEAP, 100, Validity.NO_MODEL));
        assertEquals(4, row.get("ratio_to_farheap").getAsDouble());
        assertEquals(2, row.get("cores").getAsInt());
        assertEquals(1, row.get("in_flight").getAsInt());
        assertEquals(1, row.get("group").getAsInt());
        assertEquals(0, row.get("bytes_local").getAsLong());
        assertEquals(1, row.get("threads").getAsInt());
        assertEquals(0, row.get("late_pct").getAsDouble());
        assertTrue(row.get("settled").getAsBoolean());
        assertFalse(row.get("invalid").getAsBoolean());
    }

    @Test
    void withoutAValidSessionBesideItNoRowHasARatio() {
        PeersBench.Row late = row(Peers.FARHEAP, 100, new Validity(1.5));
        JsonObject redis = json(row("Redis", 400, Validity.NO_MODEL), late);
        assertTrue(redis.get("ratio_to_farheap").isJsonNull());
        assertFalse(redis.get("invalid").getAsBoolean());
        JsonObject own = json(late, late);
        assertTrue(own.get("ratio_to_farheap").isJsonNull());
        assertTrue(own.get("invalid").getAsBoolean());
        assertEquals(100, own.get("p50_ns").getAsDouble());
    }

    /** It is not known of READs whether they were late, but of the other operations of a map's get. */
    @Test
    void aGetThatDoesNotReadAloneIsJudged() {
        ModelLateness.Total late = new ModelLateness.Total();
        late.add(List.of(new ModelLateness.Counts(true, 1000, 300)));
        Validity map = PeersBench.validity(onDevice(false), PeerOperation.GET, late);
        assertTrue(map.invalid());
        assertEquals(30, map.latePercent());
        assertFalse(PeersBench.validity(onDevice(true), PeerOperation.GET, late).judged());
        assertTrue(PeersBench.validity(onDevice(true), PeerOperation.PUT, late).invalid());
    }

    private static PeerRunner onDevice(boolean readsAlone) {
        return new PeerRunner() {
            @Override
            public PeerTurn turn(PeerOperation operation, int bytes) {
                return new PeerTurn(100, 1000);
            }

            @Override
            public boolean onDevice() {
                return true;
            }

            @Override
            public boolean readsAlone() {
                return readsAlone;
            }

            @Override
            public void close() {}
        };
    }

    private static PeersBench.Row row(String peer, double nanos, Validity validity) {
        return new PeersBench.Row(
                PeerOperation.PUT,
                BYTES,
                peer,
                new Quartiles(nanos - 1, nanos, nanos + 1),
                2 * nanos,
                15,
                PeerMeans.single(false, 2),
                true,
                validity);
    }

    private static JsonObject json(PeersBench.Row row, PeersBench.Row farheap) {
        BenchReport report = new BenchReport("soft0 (soft)", "connectx5", 2, "./farheap bench peers");
        row.put(report.row(), farheap);
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }
}
