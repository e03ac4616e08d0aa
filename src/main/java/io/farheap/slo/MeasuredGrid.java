package io.farheap.slo;

import java.util.Arrays;

/**
 * The points of a space that may be measured, which are those of {@link GridLevels} in each parameter, with their
 * figures: measured, or estimated if the measurement was omitted. If neither is known, a figure is not a number. One
 * thread at a time.
 */
final class MeasuredGrid {

    private final ConfigurationSpace space;
    private final GridLevels threads;
    private final GridLevels batches;
    private final GridLevels depths;
    private final double[][] values = new double[Metric.COUNT][];
    private final boolean[] measured;
    private final double[] uncertainty;

    MeasuredGrid(ConfigurationSpace space) {
        this.space = space;
        threads = new GridLevels(1, space.clientCores());
        batches = new GridLevels(1, space.maxBatch());
        depths = new GridLevels(space.minDepth(), space.maxDepth());
        for (int metric = 0; metric < Metric.COUNT; metric++) {
            values[metric] = new double[(threads.count() + 1) * threads.count() * batches.count() * depths.count()];
            Arrays.fill(values[metric], Double.NaN);
        }
        measured = new boolean[values[0].length];
        uncertainty = new double[values[0].length];
    }

    ConfigurationSpace space() {
        return space;
    }

    /** The levels of client threads, and of server threads if there are any. */
    GridLevels threads() {
        return threads;
    }

    GridLevels batches() {
        return batches;
    }

    GridLevels depths() {
        return depths;
    }

    int points() {
        return values[0].length;
    }

    /**
     * The index of a point.
     *
     * @param server 0 for no server thread, otherwise one more than an index into {@link #threads}
     * @param client an index into {@link #threads}
     */
    int index(int server, int client, int batch, int depth) {
        return ((server * threads.count() + client) * batches.count() + batch) * depths.count() + depth;
    }

    /** The index of a configuration's point, or -1 if it is not a point of this grid. */
    int index(Configuration configuration) {
        if (!space.contains(configuration)) {
            return -1;
        }
        int server = configuration.serverThreads() == 0 ? 0 : threads.indexOf(configuration.serverThreads()) + 1;
        int client = threads.indexOf(configuration.clientThreads());
        int batch = batches.indexOf(configuration.batchSize());
        int depth = depths.indexOf(configuration.queueDepth());
        boolean serverOff = configuration.serverThreads() > 0 && server == 0;
        return serverOff || client < 0 || batch < 0 || depth < 0 ? -1 : index(server, client, batch, depth);
    }

    void set(int index, Performance performance) {
        estimate(index, performance);
        measured[index] = true;
    }

    void estimate(int index, Performance performance) {
        for (int metric = 0; metric < Metric.COUNT; metric++) {
            values[metric][index] = performance.get(metric);
        }
        uncertainty[index] = performance.uncertainty();
    }

    double get(int metric, int index) {
        return values[metric][index];
    }

    boolean measured(int index) {
        return measured[index];
    }

    /** As {@link Performance#uncertainty}; of an estimated point, that of the figures from which it was estimated. */
    double uncertainty(int index) {
        return uncertainty[index];
    }

    Performance get(int index) {
        return new Performance(
                values[0][index], values[1][index], values[2][index], values[3][index], uncertainty[index]);
    }
}
