package io.farheap.slo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A configuration that comes nearest to an infeasible objective. The distance is the one factor by which the bounds
 * that give way are relaxed: latencies are multiplied by it and throughputs divided by it; the other bounds hold.
 *
 * @param relaxed which bounds give way
 * @param factor above 1, and at most 0.1% above the smallest factor with a feasible configuration
 * @param configuration the cheapest at about that factor
 * @param predicted its predicted performance
 */
public record NearestFeasible(Relaxation relaxed, double factor, Configuration configuration, Performance predicted) {

    private static final double PRECISION = 1.001;
    private static final double ANY = 1e30;

    /** The results for each way of relaxing an infeasible objective, except those for which no factor helps. */
    static List<NearestFeasible> of(PerformanceModel model, Slo slo) {
        List<NearestFeasible> nearest = new ArrayList<>();
        for (Relaxation relaxation : Relaxation.values()) {
            NearestFeasible found = of(model, slo, relaxation);
            if (found != null) {
                nearest.add(found);
            }
        }
        return nearest;
    }

    private static @Nullable NearestFeasible of(PerformanceModel model, Slo slo, Relaxation relaxation) {
        Search search = new ExactSearch();
        SearchResult any = search.find(model, relaxation.apply(slo, ANY));
        Configuration best = any.found();
        Performance predicted = any.predicted();
        if (best == null || predicted == null) {
            return null;
        }
        double low = 1;
        double high = relaxation.miss(slo, predicted);
        while (high > low * PRECISION) {
            double middle = Math.sqrt(low * high);
            SearchResult found = search.find(model, relaxation.apply(slo, middle));
            if (found.found() != null && found.predicted() != null) {
                best = found.found();
                predicted = found.predicted();
                high = Math.min(middle, relaxation.miss(slo, predicted));
            } else {
                low = middle;
            }
        }
        return new NearestFeasible(relaxation, high, best, predicted);
    }

    @Override
    public String toString() {
        String what =
                switch (relaxed) {
                    case LATENCY -> "with latencies";
                    case THROUGHPUT -> "with throughputs";
                    case BOTH -> "with both";
                };
        return what
                + String.format(
                        Locale.ROOT, " relaxed by a factor of %.4g, %s does %s", factor, configuration, predicted);
    }
}
