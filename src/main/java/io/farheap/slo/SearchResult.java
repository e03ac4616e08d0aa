package io.farheap.slo;

import org.jspecify.annotations.Nullable;

/**
 * @param found null where the search found none
 * @param predicted null where it found none
 * @param examined configurations (leaves of the tree) whose figures the search computed
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
