package io.farheap.bench.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Rotation;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** A manager's ratio is that of medians, and each row has the means of its sides. */
class ManagerFiguresTest {

    private final BenchReport report = new BenchReport("none", "none", 2, "./farheap bench manager");
    private final ManagerFigures figures = new ManagerFigures(64, false, 2, 1 << 20);

    private void turn(double allocations, double singles, double multis) {
        Histogram nanos = new Histogram(3);
        nanos.recordValue(1_000_000);
        figures.add(
                report.row(), new ManagerBench.Turn(allocations, 2 * allocations, 5, 10, singles, multis, nanos), 700);
    }

    private JsonObject json() {
        return JsonParser.parseString(report.json()).getAsJsonObject();
    }

    @Test
    void aRatioIsThatOfTheMedians() {
        turn(100, 1000, 100);
        turn(300, 200, 600);
        turn(200, 400, 1000);
        figures.put(report.summary());
        JsonObject summary = json();
        // The median of the three turns' ratios is 0.2, and the ratio of the medians 200 / 600.
        assertEquals(0.333, summary.get("ratio").getAsDouble());
        assertEquals(0.1, summary.get("ratio_least").getAsDouble());
        assertEquals(0.5, summary.get("ratio_most").getAsDouble());
        assertEquals(0.5, summary.get("single_ratio").getAsDouble());
        assertEquals(200, summary.get("allocations_per_s").getAsDouble());
        assertEquals(150, summary.get("allocations_per_s_p25").getAsDouble());
        assertEquals(250, summary.get("allocations_per_s_p75").getAsDouble());
        assertEquals("50 in a request", summary.get("zookeeper_writes").getAsString());
        // That way's median: the median of each turn's better way is 1000.
        assertEquals(600, summary.get("zookeeper_writes_per_s").getAsDouble());
        // Quartiles of the turns' ratios would not be those of a ratio of medians.
        assertFalse(summary.has("ratio_p25") || summary.has("single_ratio_p75"), summary::toString);
    }

    @Test
    void aRowHasTheMeansOfItsSidesAndSaysThatTheyHadNotSettled() {
        turn(100, 1000, 100);
        JsonObject row = json().getAsJsonArray("rows").get(0).getAsJsonObject();
        assertEquals(64, row.get("in_flight").getAsInt());
        assertEquals(2000, row.get("zookeeper_single_in_flight").getAsInt());
        assertEquals(50, row.get("zookeeper_multi_group").getAsInt());
        assertEquals(2, row.get("cores").getAsInt());
        assertEquals(1 << 20, row.get("bytes_local").getAsLong());
        assertFalse(row.get("settled").getAsBoolean());
        assertFalse(row.get("invalid").getAsBoolean());
    }

    @Test
    void noSideIsFavouredIfFewTurnsAreWanted() {
        Rotation rotation = ManagerBench.rotation(2);
        assertEquals(2, ManagerBench.turns(2));
        int[] first = rotation.order(0);
        int[] second = rotation.order(1);
        for (int place = 0; place < first.length; place++) {
            assertEquals(first[place], second[first.length - 1 - place]);
        }
    }

    @Test
    void theUsualNumberOfTurnsIsOfWholeRounds() {
        String usual = new CommandLine(new BenchManagerCommand())
                .getCommandSpec()
                .findOption("--repeat")
                .defaultValue();
        assertEquals(0, Integer.parseInt(usual) % new Rotation(ManagerBench.SIDES).round(), usual);
    }
}
