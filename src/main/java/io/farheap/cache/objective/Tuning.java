package io.farheap.cache.objective;

import io.farheap.cache.contract.SloReport;
import io.farheap.slo.Explanation;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import io.farheap.slo.Slo;
import io.farheap.verbs.Context;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An objective for a cache, and the configuration that was found for it.
 *
 * @param models of all distances, in which configurations are searched for another objective
 * @param model the one of them in which this configuration was found
 * @param margin the share by which predictions have to be better than the objective
 * @param why the configuration that was found for the first objective
 * @param period of the comparisons with the objective
 * @param listener receives their results, or null
 */
public record Tuning(
        List<PerformanceModel> models,
        PerformanceModel model,
        double margin,
        Explanation why,
        Duration period,
        @Nullable Consumer<SloReport> listener) {

    private static final Duration SHORTEST = Duration.ofMillis(1);

    public Tuning {
        if (period.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("a period of " + period
                    + " to compare a cache with its objective; it must be at least " + SHORTEST);
        }
    }

    /** @throws io.farheap.slo.InfeasibleSloException with the nearest objectives that can be met */
    static Tuning of(
            @Nullable PerformanceModel model,
            Slo slo,
            double margin,
            Duration period,
            @Nullable Consumer<SloReport> listener) {
        if (model == null) {
            throw new IllegalArgumentException(
                    "an objective without a performance model to find a configuration in; measure one with"
                            + " 'farheap model', and load it with ModelFile.load");
        }
        return new Tuning(List.of(model), model, margin, Explanation.of(model, slo, margin), period, listener);
    }

    /** The same among other models. */
    Tuning among(List<PerformanceModel> all) {
        return new Tuning(List.copyOf(all), model, margin, why, period, listener);
    }

    /** Refuses a model of another device. */
    public void check(Context context) {
        String device = device(context);
        if (!isOf(model.subject(), device)) {
            throw new IllegalArgumentException("a performance model of device "
                    + model.subject().device() + " for a cache on " + device
                    + "; measure one of this device with 'farheap model'");
        }
    }

    /**
     * Refuses a model of caches with another resilience: their performance differs.
     *
     * @param resilience of the cache, or {@link ModelSubject#PLAIN}
     */
    public static void check(ModelSubject subject, String resilience) {
        if (!subject.resilience().equals(resilience)) {
            throw new IllegalArgumentException("a performance model of caches " + coded(subject.resilience())
                    + " for a cache " + coded(resilience) + "; measure one of this with 'farheap model"
                    + (resilience.equals(ModelSubject.PLAIN) ? "'" : " --resilience K+R'"));
        }
    }

    private static String coded(String resilience) {
        return resilience.equals(ModelSubject.PLAIN) ? "without resilience" : "with resilience " + resilience;
    }

    /** The name of a device as models have it, without the suffix that distinguishes several of that name. */
    public static String device(Context context) {
        return context.device().name() + " (" + context.library().name().toLowerCase(Locale.ROOT) + ")";
    }

    public static boolean isOf(ModelSubject subject, String device) {
        return subject.device().equals(device) || subject.device().startsWith(device + ", ");
    }
}
