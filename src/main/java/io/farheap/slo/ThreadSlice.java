package io.farheap.slo;

import java.util.Arrays;

/**
 * The figures of all configurations with a given number of server threads and of client threads, by batch size and
 * queue depth: the grid's figures, interpolated between numbers of threads. Immutable.
 */
final class ThreadSlice {

    private final int server;
    private final int client;
    private final GridLevels batches;
    private final GridLevels depths;
    private final int rows;
    private final double[][] values = new double[Metric.COUNT][];
    private final double[] best = new double[Metric.COUNT];

    ThreadSlice(MeasuredGrid grid, int server, int client) {
        this.server = server;
        this.client = client;
        batches = grid.batches();
        depths = grid.depths();
        rows = server == 0 ? 1 : batches.count();
        ThreadWeights weights = new ThreadWeights(grid.threads(), server, client);
        for (int metric = 0; metric < Metric.COUNT; metric++) {
            double[] figures = new double[rows * depths.count()];
            for (int batch = 0; batch < rows; batch++) {
                for (int depth = 0; depth < depths.count(); depth++) {
                    double sum = 0;
                    for (int i = 0; i < weights.count(); i++) {
                        sum += weights.weight(i)
                                * grid.get(metric, grid.index(weights.server(i), weights.client(i), batch, depth));
                    }
                    figures[batch * depths.count() + depth] = sum;
                }
            }
            values[metric] = figures;
            boolean latency = Metric.isLatency(metric);
            best[metric] = latency
                    ? Arrays.stream(figures)
                            .filter(figure -> !Double.isNaN(figure))
                            .min()
                            .orElse(Double.NaN)
                    : Arrays.stream(figures)
                            .filter(figure -> !Double.isNaN(figure))
                            .max()
                            .orElse(Double.NaN);
        }
    }

    int server() {
        return server;
    }

    int client() {
        return client;
    }

    /** The number of measured batch sizes. */
    int rows() {
        return rows;
    }

    /**
     * The smallest latency or the largest throughput of all points; no configuration between them is better. Not a
     * number if no point has figures.
     */
    double best(int metric) {
        return best[metric];
    }

    /** A figure at a measured batch size, linear between queue depths. */
    double atRow(int metric, int row, int belowDepth, double fraction) {
        double[] figures = values[metric];
        int index = row * depths.count() + belowDepth;
        return fraction == 0 ? figures[index] : between(figures[index], figures[index + 1], fraction);
    }

    /** A figure at any batch size and queue depth; not a number if a point that it needs has no figures. */
    double at(int metric, int batch, int depth) {
        int column = depths.below(depth);
        double columnFraction = depths.fraction(depth, column);
        int row = batches.below(batch);
        double fraction = batches.fraction(batch, row);
        double low = atRow(metric, row, column, columnFraction);
        return fraction == 0 ? low : between(low, atRow(metric, row + 1, column, columnFraction), fraction);
    }

    /**
     * Interpolates; the computed result is monotonic in {@code fraction}, since rounding keeps the order at each step.
     * {@link ExactSearch} relies on that.
     */
    static double between(double low, double high, double fraction) {
        return low + (high - low) * fraction;
    }
}
