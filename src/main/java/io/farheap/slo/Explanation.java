package io.farheap.slo;

import java.util.ArrayList;
import java.util.List;

/**
 * Why a configuration was chosen.
 *
 * @param slo what was asked for
 * @param margin by which predictions are better than that
 * @param chosen the cheapest that meets it: the fewest server threads, then client threads, then the smallest batch,
 *     then queue depth
 * @param candidates for each number of server threads with which it can be met; the first is the chosen one
 * @param space how many configurations there are
 */
public record Explanation(
        Slo slo, double margin, CandidateConfiguration chosen, List<CandidateConfiguration> candidates, long space) {

    /** Predictions of a machine that does other things too are seldom wrong by more. */
    public static final double USUAL_MARGIN = 0.1;

    public Explanation {
        candidates = List.copyOf(candidates);
    }

    /** As {@link #of(PerformanceModel, Slo, double)}, with predictions taken at their word. */
    public static Explanation of(PerformanceModel model, Slo slo) {
        return of(model, slo, 0);
    }

    /**
     * Chooses, and says why.
     *
     * @param margin what predictions may be wrong by, as a share: they are to meet the objective
     *     {@linkplain Slo#withMargin with it}
     * @throws InfeasibleSloException where no configuration meets the objective; its message has the nearest that can
     *     be met
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
