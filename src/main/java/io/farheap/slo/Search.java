package io.farheap.slo;

/**
 * Finds a configuration that meets an objective, as a model predicts it. Implementations keep no state between
 * searches; any thread may call.
 */
public interface Search {

    /** @throws IllegalArgumentException if the objective bounds an operation that the model's mix does not contain */
    SearchResult find(PerformanceModel model, Slo slo);

    /**
     * Checks that the model's mix contains the operations that the objective bounds.
     *
     * @throws IllegalArgumentException if it does not
     */
    static void check(PerformanceModel model, Slo slo) {
        ModelSubject subject = model.subject();
        if (slo.reads().bounds() && !subject.hasReads() || slo.writes().bounds() && !subject.hasWrites()) {
            throw new IllegalArgumentException("an objective of " + slo + " on a model of " + subject.readPercent()
                    + "% reads; bound only operations that it has, or measure a model of a mix with both");
        }
    }
}
