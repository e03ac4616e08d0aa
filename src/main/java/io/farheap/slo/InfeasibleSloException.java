package io.farheap.slo;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** No configuration of a model meets an objective. */
public final class InfeasibleSloException extends RuntimeException {

    private final transient List<NearestFeasible> nearest;

    InfeasibleSloException(PerformanceModel model, Slo slo, double margin, List<NearestFeasible> nearest) {
        super("no configuration with up to " + model.space().clientCores() + " client threads on device "
                + model.subject().device()
                + " meets the objective (" + slo + ")" + text(margin) + "; the nearest: "
                + nearest.stream().map(NearestFeasible::toString).collect(Collectors.joining("; ")));
        this.nearest = List.copyOf(nearest);
    }

    private static String text(double margin) {
        return margin == 0 ? "" : String.format(Locale.ROOT, " with a margin of %.3g%%", 100 * margin);
    }

    /**
     * The objectives that come nearest and can be met: one for each {@link Relaxation} that helps, in their order. Not
     * serialized.
     */
    public List<NearestFeasible> nearest() {
        return nearest;
    }
}
