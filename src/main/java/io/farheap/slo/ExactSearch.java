package io.farheap.slo;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Finds the cheapest configuration on every model, without looking at every configuration. It relies only on how the
 * model interpolates, and not on monotonic measurements. At a given queue depth each figure is linear in the batch size
 * between two measured batch sizes, so the batch sizes there that meet one bound are a run which starts at one end and
 * is found by bisection; the smallest batch size that meets all bounds is the start of the intersection of these runs.
 * Numbers of threads at which no measured batch size and queue depth meets some bound are skipped altogether.
 */
public final class ExactSearch implements Search {

    /**
     * Rounding errors may put an interpolated figure slightly outside the interval of the figures that it lies between;
     * they are far below this margin, so that skipping does not depend on them.
     */
    private static final double ROUNDING = 1e-9;

    public ExactSearch() {}

    @Override
    public SearchResult find(PerformanceModel model, Slo slo) {
        Search.check(model, slo);
        PlaneSearch search = new PlaneSearch(model, slo);
        for (int server = 0; server <= model.space().serverCores(); server++) {
            Configuration found = search.cheapest(server);
            if (found != null) {
                return SearchResult.of(model, found, search.examined);
            }
        }
        return SearchResult.none(search.examined);
    }

    /** The cheapest feasible configuration with this number of server threads, or null if there is none. */
    static @Nullable Configuration cheapest(PerformanceModel model, Slo slo, int server) {
        return new PlaneSearch(model, slo).cheapest(server);
    }

    private static final class PlaneSearch {

        private final PerformanceModel model;
        private final ConfigurationSpace space;
        private final GridLevels batches;
        private final GridLevels depths;
        private final double[] limits = new double[Metric.COUNT];
        private final int[] bounded;
        private final double[][] rows;
        private long examined;

        PlaneSearch(PerformanceModel model, Slo slo) {
            this.model = model;
            space = model.space();
            batches = model.batches();
            depths = model.depths();
            rows = new double[Metric.COUNT][batches.count()];
            int[] metrics = new int[Metric.COUNT];
            int count = 0;
            for (int metric = 0; metric < Metric.COUNT; metric++) {
                limits[metric] = slo.limit(metric);
                if (Metric.isLatency(metric) ? limits[metric] < Double.POSITIVE_INFINITY : limits[metric] > 0) {
                    metrics[count++] = metric;
                }
            }
            bounded = Arrays.copyOf(metrics, count);
        }

        @Nullable
        Configuration cheapest(int server) {
            for (int client = Math.max(1, server); client <= space.clientCores(); client++) {
                ThreadSlice plane = model.plane(server, client);
                if (possible(plane)) {
                    Configuration found = first(plane);
                    if (found != null) {
                        return found;
                    }
                }
            }
            return null;
        }

        private boolean possible(ThreadSlice plane) {
            for (int metric : bounded) {
                double best = plane.best(metric) * (Metric.isLatency(metric) ? 1 - ROUNDING : 1 + ROUNDING);
                if (!Metric.meets(metric, best, limits[metric])) {
                    return false;
                }
            }
            return true;
        }

        private @Nullable Configuration first(ThreadSlice plane) {
            int bestBatch = Integer.MAX_VALUE;
            int bestDepth = 0;
            for (int depth = space.minDepth(); depth <= space.maxDepth() && bestBatch > 1; depth++) {
                int column = depths.below(depth);
                double fraction = depths.fraction(depth, column);
                for (int row = 0; row < plane.rows(); row++) {
                    // Required even if this figure has no bound: it is not a number if the point has no figures.
                    rows[0][row] = plane.atRow(0, row, column, fraction);
                    for (int metric : bounded) {
                        rows[metric][row] = plane.atRow(metric, row, column, fraction);
                    }
                }
                int batch = smallestBatch(plane.rows(), bestBatch);
                if (batch < bestBatch) {
                    bestBatch = batch;
                    bestDepth = depth;
                }
            }
            return bestBatch == Integer.MAX_VALUE
                    ? null
                    : new Configuration(plane.client(), plane.server(), bestBatch, bestDepth);
        }

        /**
         * The smallest batch size that meets all bounds at the depth of {@link #rows}, or {@code below} if that is not
         * smaller.
         */
        private int smallestBatch(int count, int below) {
            for (int row = 0; row < count && batches.get(row) < below; row++) {
                if (Double.isNaN(rows[0][row])) {
                    continue;
                }
                int low = batches.get(row);
                boolean alone = row == count - 1 || Double.isNaN(rows[0][row + 1]);
                int batch = smallestBatch(row, low, alone ? low : batches.get(row + 1) - 1);
                if (batch > 0) {
                    return Math.min(batch, below);
                }
            }
            return below;
        }

        private int smallestBatch(int row, int low, int high) {
            int from = low;
            int to = high;
            for (int metric : bounded) {
                boolean fromMeets = meets(metric, row, from);
                boolean toMeets = to == from ? fromMeets : meets(metric, row, to);
                if (!fromMeets && !toMeets) {
                    return 0;
                }
                if (fromMeets && !toMeets) {
                    to = edge(metric, row, from, to);
                } else if (!fromMeets) {
                    from = edge(metric, row, to, from);
                }
            }
            return from;
        }

        /** The last batch size that meets the bound, between one that does and one that does not. */
        private int edge(int metric, int row, int meets, int fails) {
            int in = meets;
            int out = fails;
            while (Math.abs(in - out) > 1) {
                int middle = (in + out) >>> 1;
                if (meets(metric, row, middle)) {
                    in = middle;
                } else {
                    out = middle;
                }
            }
            return in;
        }

        private boolean meets(int metric, int row, int batch) {
            examined++;
            double fraction = batches.fraction(batch, row);
            double value = fraction == 0
                    ? rows[metric][row]
                    : ThreadSlice.between(rows[metric][row], rows[metric][row + 1], fraction);
            return Metric.meets(metric, value, limits[metric]);
        }
    }
}
