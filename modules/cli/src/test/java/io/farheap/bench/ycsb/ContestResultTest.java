package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.ModelLateness;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** A contestant's row has the median of its turns with quartiles, its means, and whether it had settled. */
class ContestResultTest {

    private static final Contestant REDIS = new Contestant() {
        @Override
        public void load() {}

        @Override
        public ContestantClient open(ClientCounts tally) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Facts facts() {
            return new Facts(0, 1, 0, "pipelined", "Redis", true);
        }

        @Override
        public Means means() {
            return Means.grouped(100);
        }

        @Override
        public int otherCores() {
            return 1;
        }

        @Override
        public void close() {}
    };

    private static ContestTurn turn(double rate) {
        return new ContestTurn(rate, new ClientCounts(), 0);
    }

    private static JsonObject row(double... warmUps) {
        ContestResult result = new ContestResult("redis", KeyDistribution.UNIFORM, 2, 1, 100);
        for (double rate : warmUps) {
            result.warmUp(turn(rate));
        }
        try (ModelLateness lateness = new ModelLateness()) {
            for (double rate : new double[] {400, 200, 300}) {
                result.add(turn(rate), REDIS, lateness);
            }
        }
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench ycsb");
        YcsbPlan plan =
                new YcsbPlan(new DataSet(1000, 8), YcsbWorkload.C, List.of(2), 3, 1, Path.of("."), List.of(), null);
        result.put(report.row(), plan, report.model());
        return JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
    }

    @Test
    void aRowHasQuartilesAndTheMeansOfItsContestant() {
        JsonObject row = row(100, 299, 301, 300);
        assertEquals(300, row.get("ops_per_s").getAsDouble());
        assertEquals(250, row.get("ops_per_s_p25").getAsDouble());
        assertEquals(350, row.get("ops_per_s_p75").getAsDouble());
        assertEquals(200, row.get("ops_per_s_least").getAsDouble());
        assertEquals(3, row.get("cores").getAsInt());
        assertEquals(2 * OperationGroup.SIZE, row.get("in_flight").getAsInt());
        assertEquals(OperationGroup.SIZE, row.get("group").getAsInt());
        assertEquals(100, row.get("bytes_local").getAsLong());
        assertTrue(row.get("settled").getAsBoolean());
        assertEquals(0, row.get("late_pct").getAsDouble());
        assertFalse(row.get("invalid").getAsBoolean());
    }

    /** A contestant with these facts and means. */
    private record Store(Facts facts, Means means) implements Contestant {

        @Override
        public void load() {}

        @Override
        public ContestantClient open(ClientCounts tally) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }

    private static Contestant.Facts facts(double local, boolean bounded) {
        return new Contestant.Facts(local, 0, 0, "get", "file", bounded);
    }

    private static ContestResult result(String name, double rate, Contestant.Facts facts, Contestant.Means means) {
        ContestResult result = new ContestResult(name, KeyDistribution.UNIFORM, 1, 1, 1000);
        try (ModelLateness lateness = new ModelLateness()) {
            result.add(turn(rate), new Store(facts, means), lateness);
        }
        return result;
    }

    /** Groups beside single keys, one read beside 256, or memory without a bound are no comparison. */
    @Test
    void aRatioIsToTheStoreWithEqualMeansOnly() {
        Contestant.Means grouped = Contestant.Means.grouped(1000);
        Contestant.Means single = Contestant.Means.single(1000);
        List<ContestResult> stores = List.of(
                result("local", 100, facts(1, true), grouped),
                result("local-1", 40, facts(1, true), single),
                result("file", 9, facts(0.2, true), new Contestant.Means(1000, 256, 64)),
                result("file-64", 8, facts(0.2, true), grouped),
                result("file-1", 2, facts(0.2, true), single));
        assertEquals(
                "local-1 0.500", ratio(result("offheap", 20, facts(1, true), Contestant.Means.single(700)), stores));
        assertEquals("local 2.000", ratio(result("touched", 200, facts(1, true), grouped), stores));
        assertEquals("file-64 0.500", ratio(result("multiget", 4, facts(0.2, true), grouped), stores));
        assertEquals("file-1 3.000", ratio(result("get", 6, facts(0.2, true), single), stores));
        // A smaller cache, no bound of memory, and a depth that no store has.
        assertEquals("none", ratio(result("small", 6, facts(0.2, true), Contestant.Means.single(100)), stores));
        assertEquals("none", ratio(result("lmdb", 6, facts(0.2, false), single), stores));
        assertEquals("none", ratio(result("deep", 6, facts(0.2, true), new Contestant.Means(1000, 128, 1)), stores));
    }

    private static String ratio(ContestResult result, List<ContestResult> stores) {
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench ycsb");
        result.putStore(report.row(), stores);
        JsonObject row = JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
        return row.get("store").isJsonNull()
                ? "none"
                : String.format(
                        Locale.ROOT,
                        "%s %.3f",
                        row.get("store").getAsString(),
                        row.get("ratio_to_store").getAsDouble());
    }

    @Test
    void memoryWithoutABoundIsNotTheSame() {
        BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench ycsb");
        YcsbPlan plan =
                new YcsbPlan(new DataSet(1000, 8), YcsbWorkload.C, List.of(1), 3, 1, Path.of("."), List.of(), null);
        result("mapdb", 1, facts(0, false), Contestant.Means.single(1000)).put(report.row(), plan, report.model());
        JsonObject row = JsonParser.parseString(report.json())
                .getAsJsonObject()
                .getAsJsonArray("rows")
                .get(0)
                .getAsJsonObject();
        assertFalse(row.get("same_memory").getAsBoolean());
        assertEquals(1000, row.get("bytes_local").getAsLong());
    }

    @Test
    void aContestantThatDoesNotSettleSaysSo() {
        assertFalse(row(300, 300).get("settled").getAsBoolean());
        assertFalse(row(300, 300, 300, 400).get("settled").getAsBoolean());
    }
}
