package io.farheap.cache.objective;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.SloReport;
import io.farheap.manager.AllocationCandidate;
import io.farheap.slo.Explanation;
import io.farheap.slo.InfeasibleSloException;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.Slo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The ways to meet an objective, one for each distance that has a model: a manager chooses one by the servers that it
 * has at each distance (Redy, section 6.1).
 */
public final class Tunings {

    private Tunings() {}

    /**
     * @return one for each model in which the objective can be met; at least one
     * @throws InfeasibleSloException if it can be met in none, with the nearest objectives that can be met in the first
     */
    public static List<Tuning> of(
            List<PerformanceModel> models,
            Slo slo,
            double margin,
            Duration period,
            @Nullable Consumer<SloReport> listener) {
        List<Tuning> feasible = new ArrayList<>();
        InfeasibleSloException first = null;
        for (PerformanceModel model : models) {
            try {
                feasible.add(Tuning.of(model, slo, margin, period, listener).among(models));
            } catch (InfeasibleSloException e) {
                first = first == null ? e : first;
            }
        }
        if (feasible.isEmpty()) {
            if (first != null) {
                throw first;
            }
            // Throws, and names the missing model.
            Tuning.of(null, slo, margin, period, listener);
        }
        return feasible;
    }

    /** A candidate for each distance and number of server threads with which the objective can be met. */
    public static List<AllocationCandidate> candidates(List<Tuning> tunings) {
        return tunings.stream()
                .flatMap(tuning -> tuning.why().candidates().stream()
                        .map(found -> new AllocationCandidate(
                                switches(tuning), found.configuration().serverThreads())))
                .distinct()
                .toList();
    }

    /** The tuning that a manager has chosen of the {@link #candidates}. */
    public static Tuning chosen(List<Tuning> tunings, AllocationCandidate candidate) {
        for (Tuning tuning : tunings) {
            for (io.farheap.slo.CandidateConfiguration found : tuning.why().candidates()) {
                if (switches(tuning) == candidate.switches()
                        && found.configuration().serverThreads() == candidate.serverThreads()) {
                    Explanation why = tuning.why();
                    return new Tuning(
                            tuning.models(),
                            tuning.model(),
                            tuning.margin(),
                            new Explanation(why.slo(), why.margin(), found, why.candidates(), why.space()),
                            tuning.period(),
                            tuning.listener());
                }
            }
        }
        throw new CacheException("the manager has chosen " + candidate + ", which it was not offered");
    }

    /** A model that was measured within one host has no distance: it is used for any. */
    private static int switches(Tuning tuning) {
        int switches = tuning.model().subject().switches();
        return switches == 0 ? AllocationCandidate.ANY.switches() : switches;
    }
}
