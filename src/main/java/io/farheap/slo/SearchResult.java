package io.farheap.slo;

import org.jspecify.annotations.Nullable;

/**
 * The result of a search.
 *
 * @param found null if the search found none
 * @param predicted null if it found none
 * @param examined how many configurations (leaves of the tree) the search computed figures for; {@link ExactSearch}
 *     counts a configuration once for each bound that it compares, and again if it compares it again
 */
public record SearchResult(
        @Nullable Configuration found, @Nullable Performance predicted, long examined) {

    static SearchResult none(long examined) {
        return new SearchResult(null, null, examined);
    }

    static SearchResult of(PerformanceModel model, Configuration found, long examined) {
        return new SearchResult(found, model.predict(found).orElseThrow(), examined);
    }

    public boolean feasible() {
        return found != null;
    }
}
