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
        ContestResult result = new ContestResult("redis", KeyDistribution.UNIFORM, 2, 100);
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

    @Test
    void aContestantThatDoesNotSettleSaysSo() {
        assertFalse(row(300, 300).get("settled").getAsBoolean());
        assertFalse(row(300, 300, 300, 400).get("settled").getAsBoolean());
    }
}
