package io.farheap.slo;

import io.farheap.measure.Measurement;
import io.farheap.testing.Effort;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Small random models, and objectives for them. */
public final class Models {

    private Models() {}

    /** The seeds of a test; with {@code -Dfarheap.seed=S}, that seed alone. */
    public static LongStream seeds(int count) {
        Long one = Long.getLong("farheap.seed");
        if (one != null) {
            return LongStream.of(one);
        }
        long first = System.nanoTime();
        return LongStream.range(first, first + Effort.count(count));
    }

    static ModelSubject subject(int clientCores, int recordBytes, int deviceDepth) {
        return new ModelSubject("simulated", "none", 1, recordBytes, 50, clientCores, deviceDepth);
    }

    /** Redy's space: 30 client cores, records of 8 bytes, a device depth of 16. */
    public static ModelSubject paper() {
        return subject(30, 8, 16);
    }

    public static MeasurementPlan measured(ModelSubject subject, Measurement measurement) throws InterruptedException {
        MeasurementPlan plan = new MeasurementPlan(subject);
        while (!plan.complete()) {
            plan.record(measurement.measure(plan.next()));
        }
        return plan;
    }

    /** A model in which more of any parameter, the first server thread too, raises every figure. */
    static PerformanceModel monotonic(SplittableRandom random) {
        return random(random, true);
    }

    /** A model of independent figures, some of them equal, with points left out. */
    public static PerformanceModel anyhow(SplittableRandom random) {
        return random(random, false);
    }

    private static PerformanceModel random(SplittableRandom random, boolean monotonic) {
        ModelSubject subject = subject(1 + random.nextInt(9), 4096 / (1 + random.nextInt(40)), 3 + random.nextInt(14));
        MeasuredGrid grid = new MeasuredGrid(subject.space(1 + random.nextInt(3)));
        PointOrder order = new PointOrder(grid);
        double holes = monotonic ? 0 : random.nextDouble(0.2);
        int steps = random.nextBoolean() ? 6 : 1_000_000;
        for (int i = 0; i < order.count(); i++) {
            double[] figures = new double[Metric.COUNT];
            for (int metric = 0; metric < Metric.COUNT; metric++) {
                figures[metric] = 1 + random.nextInt(steps);
                if (monotonic) {
                    figures[metric] += before(grid, order, i, metric);
                }
            }
            if (random.nextDouble() >= holes) {
                grid.set(order.index(i), new Performance(figures[0], figures[1], figures[2], figures[3]));
            }
        }
        return new PerformanceModel(subject, grid);
    }

    private static double before(MeasuredGrid grid, PointOrder order, int i, int metric) {
        double most = 0;
        for (Parameter parameter : Parameter.values()) {
            int before = order.predecessor(i, parameter);
            if (before != PointOrder.NONE) {
                most = Math.max(most, grid.get(metric, before));
            }
        }
        Configuration configuration = order.configuration(i);
        if (configuration.serverThreads() == 1) {
            Configuration oneSided = new Configuration(configuration.clientThreads(), 0, 1, configuration.queueDepth());
            most = Math.max(most, grid.get(metric, grid.index(oneSided)));
        }
        return most;
    }

    /** An objective between the model's figures, with some bounds absent. */
    static Slo drawn(SplittableRandom random, PerformanceModel model) {
        return new Slo(
                drawn(random, model.readLatencyNanos(), model.readsPerSecond()),
                drawn(random, model.writeLatencyNanos(), model.writesPerSecond()));
    }

    private static Objective drawn(
            SplittableRandom random, PerformanceModel.Range latency, PerformanceModel.Range throughput) {
        return new Objective(
                random.nextInt(5) == 0 ? Double.POSITIVE_INFINITY : between(random, latency),
                random.nextInt(5) == 0 ? 0 : between(random, throughput));
    }

    private static double between(SplittableRandom random, PerformanceModel.Range range) {
        return range.low() + (range.high() - range.low()) * random.nextDouble();
    }

    /**
     * An objective that some configuration meets exactly, with nothing to spare; null if the model does not predict
     * that configuration.
     */
    static Slo exact(SplittableRandom random, PerformanceModel model) {
        ConfigurationSpace space = model.space();
        int client = 1 + random.nextInt(space.clientCores());
        int server = random.nextInt(client + 1);
        int batch = server == 0 ? 1 : 1 + random.nextInt(space.maxBatch());
        int depth = space.minDepth() + random.nextInt(space.maxDepth() - space.minDepth() + 1);
        return model.predict(new Configuration(client, server, batch, depth))
                .map(performance -> new Slo(
                        new Objective(performance.readLatencyNanos(), performance.readsPerSecond()),
                        new Objective(performance.writeLatencyNanos(), performance.writesPerSecond())))
                .orElse(null);
    }
}
