package io.farheap.slo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.measure.Measurement;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PerformanceModelTest {

    private static Performance linear(Configuration f) {
        double latency = 100 + 3 * f.clientThreads() + 5 * f.serverThreads() + 7 * f.batchSize() + 11 * f.queueDepth();
        double throughput =
                1000 + 13 * f.clientThreads() + 17 * f.serverThreads() + 19 * f.batchSize() + 23 * f.queueDepth();
        return new Performance(latency, throughput, 2 * latency, 3 * throughput);
    }

    private static MeasuredGrid grid(Measurement measurement) throws InterruptedException {
        MeasuredGrid grid = new MeasuredGrid(new ConfigurationSpace(13, 20, 3, 11));
        PointOrder order = new PointOrder(grid);
        for (int i = 0; i < order.count(); i++) {
            grid.set(order.index(i), measurement.measure(order.configuration(i)));
        }
        return grid;
    }

    private static PerformanceModel model(MeasuredGrid grid) {
        return new PerformanceModel(Models.subject(13, 205, 11), grid);
    }

    /** Between 8 and 13, and on the triangles where both numbers of threads lie between the same two, too. */
    @Test
    void linearFiguresArePredictedEverywhere() throws InterruptedException {
        PerformanceModel model = model(grid(PerformanceModelTest::linear));
        for (int s = 0; s <= 13; s++) {
            for (int c = Math.max(1, s); c <= 13; c++) {
                for (int b = 1; b <= (s == 0 ? 1 : 20); b++) {
                    for (int q = 3; q <= 11; q++) {
                        Configuration configuration = new Configuration(c, s, b, q);
                        Performance expected = linear(configuration);
                        Performance predicted = model.predict(configuration).orElseThrow();
                        for (int metric = 0; metric < Metric.COUNT; metric++) {
                            assertEquals(
                                    expected.get(metric),
                                    predicted.get(metric),
                                    1e-9 * expected.get(metric),
                                    configuration::toString);
                        }
                    }
                }
            }
        }
    }

    @Test
    void midwayIsTheMean() throws InterruptedException {
        MeasuredGrid grid = grid(configuration -> {
            double square = configuration.queueDepth() * configuration.queueDepth() + configuration.serverThreads();
            return new Performance(square, square, square, square);
        });
        assertEquals(
                (16 + 64) / 2.0 + 2,
                model(grid).predict(new Configuration(4, 2, 4, 6)).orElseThrow().readLatencyNanos());
        assertEquals(
                (16 + 64) / 2.0 + 3,
                model(grid).predict(new Configuration(4, 3, 4, 6)).orElseThrow().readLatencyNanos());
        assertEquals(
                16,
                model(grid).predict(new Configuration(4, 0, 1, 4)).orElseThrow().readLatencyNanos());
    }

    @Test
    void whatNeedsAPointThatWasLeftOutIsNotPredicted() throws InterruptedException {
        MeasuredGrid whole = grid(PerformanceModelTest::linear);
        MeasuredGrid holed = new MeasuredGrid(whole.space());
        PointOrder order = new PointOrder(whole);
        Configuration hole = new Configuration(8, 4, 8, 4);
        for (int i = 0; i < order.count(); i++) {
            if (!order.configuration(i).equals(hole)) {
                holed.set(order.index(i), whole.get(order.index(i)));
            }
        }
        PerformanceModel model = model(holed);
        assertEquals(Optional.empty(), model.predict(hole));
        assertEquals(Optional.empty(), model.predict(new Configuration(7, 4, 8, 4)));
        assertEquals(Optional.empty(), model.predict(new Configuration(8, 3, 7, 5)));
        assertEquals(
                linear(new Configuration(8, 4, 16, 4)),
                model.predict(new Configuration(8, 4, 16, 4)).orElseThrow());
        assertEquals(
                linear(new Configuration(8, 4, 4, 8)),
                model.predict(new Configuration(8, 4, 4, 8)).orElseThrow());
        assertEquals(Optional.empty(), model.predict(new Configuration(14, 0, 1, 4)));
    }

    @Test
    void performancesMakeSense() {
        assertThrows(IllegalArgumentException.class, () -> new Performance(0, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Performance(Double.NaN, 1, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Performance(1, Double.POSITIVE_INFINITY, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Performance(0, 0, 0, 0));
        assertEquals(30, new Performance(10, 1, 40, 2).latencyNanos());
    }
}
