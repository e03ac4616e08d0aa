package io.farheap.slo;

import java.util.List;
import java.util.stream.Collectors;

/** No configuration of a model meets an objective. */
public final class InfeasibleSloException extends RuntimeException {

    private final transient List<NearestFeasible> nearest;

    InfeasibleSloException(PerformanceModel model, Slo slo, List<NearestFeasible> nearest) {
        super("no configuration with up to " + model.space().clientCores() + " client threads on device " + model.subject().device()
            + " meets the objective (" + slo + "); the nearest: " + nearest.stream().map(NearestFeasible::toString).collect(Collectors.joining("; ")));
        this.nearest = List.copyOf(nearest);
    }

    public List<NearestFeasible> nearest() {
        return nearest;
    }
}
