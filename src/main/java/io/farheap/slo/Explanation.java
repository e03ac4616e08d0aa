package io.farheap.slo;

import java.util.ArrayList;
import java.util.List;

/**
 * Why a configuration was chosen.
 *
 * @param slo        what was asked for
 * @param chosen     the cheapest that meets it: the fewest server threads, then client threads, then the smallest batch, then queue depth
 * @param candidates for each number of server threads with which it can be met; the first is the chosen one
 * @param space      how many configurations there are
 */
public record Explanation(Slo slo, Candidate chosen, List<Candidate> candidates, long space) {

    public Explanation {
        candidates = List.copyOf(candidates);
    }

    /**
     * Chooses, and says why.
     *
     * @throws InfeasibleSloException   where no configuration meets the objective; its message has the nearest that can be met
     * @throws IllegalArgumentException as {@link Search#find}
     */
    public static Explanation of(PerformanceModel model, Slo slo) {
        Search.check(model, slo);
        List<Candidate> candidates = new ArrayList<>();
        for (int server = 0; server <= model.space().clientCores(); server++) {
            Configuration found = ExactSearch.cheapest(model, slo, server);
            if (found != null) {
                candidates.add(new Candidate(found, model.predict(found).orElseThrow()));
            }
        }
        if (candidates.isEmpty()) {
            throw new InfeasibleSloException(model, slo, NearestFeasible.of(model, slo));
        }
        return new Explanation(slo, candidates.getFirst(), candidates, model.space().size());
    }
}
