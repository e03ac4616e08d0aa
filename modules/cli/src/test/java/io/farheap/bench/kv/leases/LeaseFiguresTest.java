package io.farheap.bench.kv.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import io.farheap.bench.report.BenchReport;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class LeaseFiguresTest {

    private static LeasePlay play(double reads, long nanos) {
        Histogram latency = new Histogram(3);
        latency.recordValue(nanos);
        return new LeasePlay(Map.of("reads", reads), Map.of(LeaseWorker.READ, latency));
    }

    @Test
    void figuresAreMediansOfThePlaysWithQuartiles() {
        LeaseFigures figures = new LeaseFigures();
        for (double reads : new double[] {5, 1, 3, 2, 4}) {
            figures.add(play(reads, 100));
        }
        assertEquals(3, figures.median("reads"));
        assertEquals(Double.NaN, figures.median("writes"));
        BenchReport report = new BenchReport("made", "none", 2, "made");
        figures.put(report.row());
        JsonObject row = report.rows().getFirst();
        Map<String, Double> values = new HashMap<>();
        row.entrySet()
                .forEach(field -> values.put(field.getKey(), field.getValue().getAsDouble()));
        assertEquals(Map.of("reads", 3.0, "reads_p25", 2.0, "reads_p75", 4.0, "plays", 5.0), values);
    }

    @Test
    void latenciesOfAKindAreThoseOfAllPlays() {
        LeaseFigures figures = new LeaseFigures();
        List.of(100L, 200L).forEach(nanos -> figures.add(play(1, nanos)));
        assertEquals(2, figures.latency().get(LeaseWorker.READ).getTotalCount());
    }
}
