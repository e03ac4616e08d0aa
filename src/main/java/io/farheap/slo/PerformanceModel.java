package io.farheap.slo;

import java.util.Locale;
import java.util.Optional;

/**
 * Predicts the performance of each configuration of a space (Redy's function f, section 5.2): the measured figures at
 * the measured points, and linear interpolation between neighbouring points in each parameter. It interpolates first
 * between numbers of threads, as {@link ThreadWeights} defines, then between queue depths, then between batch sizes.
 * Points that early termination omitted count as {@link MeasurementPlan} estimates them. Configurations that need a
 * point without any figure are not predicted, and no search returns them. Immutable; any thread.
 */
public final class PerformanceModel {

    private final ModelSubject subject;
    private final MeasuredGrid grid;
    private final ThreadSlice[] planes;
    private final int[] firstPlane;

    PerformanceModel(ModelSubject subject, MeasuredGrid grid) {
        this.subject = subject;
        this.grid = grid;
        int cores = grid.space().clientCores();
        int serverCores = grid.space().serverCores();
        planes = new ThreadSlice[cores + cores * (cores + 1) / 2];
        firstPlane = new int[serverCores + 1];
        int next = 0;
        for (int server = 0; server <= serverCores; server++) {
            firstPlane[server] = next;
            for (int client = Math.max(1, server); client <= cores; client++) {
                planes[next++] = new ThreadSlice(grid, server, client);
            }
        }
    }

    public ModelSubject subject() {
        return subject;
    }

    public ConfigurationSpace space() {
        return grid.space();
    }

    /** Empty if the configuration is not in the space, or needs a point without any figure. */
    public Optional<Performance> predict(Configuration configuration) {
        if (!space().contains(configuration)) {
            return Optional.empty();
        }
        ThreadSlice plane = plane(configuration.serverThreads(), configuration.clientThreads());
        double[] figures = new double[Metric.COUNT];
        for (int metric = 0; metric < Metric.COUNT; metric++) {
            figures[metric] = plane.at(metric, configuration.batchSize(), configuration.queueDepth());
        }
        return Double.isNaN(figures[0])
                ? Optional.empty()
                : Optional.of(new Performance(figures[0], figures[1], figures[2], figures[3]));
    }

    /**
     * Returns on which points of the grid the prediction of a configuration rests.
     *
     * @throws IllegalArgumentException if {@link #predict} returns nothing for it
     */
    public Basis basis(Configuration configuration) {
        if (predict(configuration).isEmpty()) {
            throw new IllegalArgumentException(
                    "configuration " + configuration + " is not predicted; ask for one that predict has figures for");
        }
        ThreadWeights weights =
                new ThreadWeights(grid.threads(), configuration.serverThreads(), configuration.clientThreads());
        int batch = grid.batches().below(configuration.batchSize());
        int lastBatch = batch + (grid.batches().fraction(configuration.batchSize(), batch) > 0 ? 1 : 0);
        int depth = grid.depths().below(configuration.queueDepth());
        int lastDepth = depth + (grid.depths().fraction(configuration.queueDepth(), depth) > 0 ? 1 : 0);
        int measured = 0;
        int estimated = 0;
        double uncertainty = 0;
        for (int i = 0; i < weights.count(); i++) {
            for (int b = batch; b <= lastBatch; b++) {
                for (int q = depth; q <= lastDepth; q++) {
                    int index = grid.index(weights.server(i), weights.client(i), b, q);
                    measured += grid.measured(index) ? 1 : 0;
                    estimated += grid.measured(index) ? 0 : 1;
                    uncertainty = Math.max(uncertainty, grid.uncertainty(index));
                }
            }
        }
        return new Basis(measured, estimated, uncertainty);
    }

    GridLevels batches() {
        return grid.batches();
    }

    GridLevels depths() {
        return grid.depths();
    }

    ThreadSlice plane(int server, int client) {
        return planes[firstPlane[server] + client - Math.max(1, server)];
    }

    /**
     * The lowest and the highest among the measured points; Redy draws objectives between them (section 7.3). Both are
     * 0 if the model's mix has no reads.
     */
    public Range readLatencyNanos() {
        return range(Metric.READ_LATENCY);
    }

    /** As {@link #readLatencyNanos}, of the reads per second of all client threads together. */
    public Range readsPerSecond() {
        return range(Metric.READS);
    }

    /** As {@link #readLatencyNanos}, of writes. */
    public Range writeLatencyNanos() {
        return range(Metric.WRITE_LATENCY);
    }

    /** As {@link #readsPerSecond}, of writes. */
    public Range writesPerSecond() {
        return range(Metric.WRITES);
    }

    private Range range(int metric) {
        double low = Double.POSITIVE_INFINITY;
        double high = 0;
        for (int i = 0; i < grid.points(); i++) {
            if (grid.measured(i)) {
                low = Math.min(low, grid.get(metric, i));
                high = Math.max(high, grid.get(metric, i));
            }
        }
        return new Range(low, high);
    }

    /** The range of one kind of figure, in its unit. */
    public record Range(double low, double high) {

        /** @param share position between the lowest and the highest, from 0 to 1 */
        public double at(double share) {
            return low + (high - low) * share;
        }
    }

    /**
     * The points of a model's grid between which a prediction is interpolated.
     *
     * @param measured how many of them were measured
     * @param estimated how many were omitted by early termination, so that their figures are estimates
     * @param uncertainty the greatest {@link Performance#uncertainty} among the measurements behind these points;
     *     infinite if it is unknown
     */
    public record Basis(int measured, int estimated, double uncertainty) {

        /** Whether all figures behind the prediction were measured and have settled. */
        public boolean isMeasured() {
            return estimated == 0 && Performance.settled(uncertainty);
        }

        /** For people: what the prediction rests on, and how well that is known. */
        @Override
        public String toString() {
            String points = estimated == 0
                    ? "measured figures alone"
                    : "estimates of " + estimated + " of " + (measured + estimated)
                            + " points, which were left out since a line of the grid had ended";
            if (Performance.settled(uncertainty)) {
                return points;
            }
            return points
                    + (uncertainty == Double.POSITIVE_INFINITY
                            ? "; a measurement behind it was too short to say how certain it is"
                            : String.format(
                                    Locale.ROOT,
                                    "; a measurement behind it has not settled: its figures are known to %.3g%%",
                                    100 * uncertainty));
        }
    }
}
