package io.farheap.slo;

import java.util.ArrayList;
import java.util.List;

/**
 * The reason for the choice of a configuration.
 *
 * @param slo the objective
 * @param margin by how much predictions must be better than the objective
 * @param chosen the cheapest that meets it: by server threads, then client threads, then batch size, then queue depth
 * @param candidates for each number of server threads with which it can be met, the cheapest; the first is the chosen
 *     one
 * @param space the number of configurations
 */
public record Explanation(
        Slo slo, double margin, CandidateConfiguration chosen, List<CandidateConfiguration> candidates, long space) {

    /** Predictions for a machine with other load are seldom wrong by more. */
    public static final double USUAL_MARGIN = 0.1;

    public Explanation {
        candidates = List.copyOf(candidates);
    }

    /** As {@link #of(PerformanceModel, Slo, double)}, without a margin. */
    public static Explanation of(PerformanceModel model, Slo slo) {
        return of(model, slo, 0);
    }

    /**
     * Chooses a configuration, and returns the reasons.
     *
     * @param margin the relative error that predictions may have: they must meet the objective
     *     {@linkplain Slo#withMargin with this margin}
     * @throws InfeasibleSloException if no configuration meets the objective; its message has the nearest feasible ones
     * @throws IllegalArgumentException as {@link Search#find}
     */
    public static Explanation of(PerformanceModel model, Slo slo, double margin) {
        Search.check(model, slo);
        Slo wanted = slo.withMargin(margin);
        List<CandidateConfiguration> candidates = new ArrayList<>();
        for (int server = 0; server <= model.space().serverCores(); server++) {
            Configuration found = ExactSearch.cheapest(model, wanted, server);
            if (found != null) {
                candidates.add(
                        new CandidateConfiguration(found, model.predict(found).orElseThrow()));
            }
        }
        if (candidates.isEmpty()) {
            throw new InfeasibleSloException(model, slo, margin, NearestFeasible.of(model, wanted));
        }
        return new Explanation(
                slo, margin, candidates.getFirst(), candidates, model.space().size());
    }
}
