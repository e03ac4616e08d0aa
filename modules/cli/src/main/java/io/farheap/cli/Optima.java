package io.farheap.cli;

import io.farheap.slo.CandidateConfiguration;
import io.farheap.slo.Configuration;
import io.farheap.slo.Performance;
import io.farheap.slo.PerformanceModel;
import java.util.Iterator;

/**
 * The configurations of a model that stand out, as in Redy's figure 3; among equal ones, the cheapest.
 *
 * @param latency the one with the lowest average latency
 * @param balanced the one with the highest ratio of throughput to latency
 * @param throughput the one with the most operations a second
 */
public record Optima(
        CandidateConfiguration latency, CandidateConfiguration balanced, CandidateConfiguration throughput) {

    /**
     * Examines every configuration: seconds, for a few million of them.
     *
     * @throws IllegalArgumentException if the model predicts none
     */
    public static Optima of(PerformanceModel model) {
        CandidateConfiguration latency = null;
        CandidateConfiguration balanced = null;
        CandidateConfiguration throughput = null;
        Iterator<Configuration> all = model.space().stream().iterator();
        while (all.hasNext()) {
            Configuration configuration = all.next();
            Performance found = model.predict(configuration).orElse(null);
            if (found == null) {
                continue;
            }
            if (latency == null || found.latencyNanos() < latency.predicted().latencyNanos()) {
                latency = new CandidateConfiguration(configuration, found);
            }
            if (balanced == null || balance(found) > balance(balanced.predicted())) {
                balanced = new CandidateConfiguration(configuration, found);
            }
            if (throughput == null
                    || found.throughput() > throughput.predicted().throughput()) {
                throughput = new CandidateConfiguration(configuration, found);
            }
        }
        if (latency == null || balanced == null || throughput == null) {
            throw new IllegalArgumentException("the model predicts no configuration at all");
        }
        return new Optima(latency, balanced, throughput);
    }

    private static double balance(Performance performance) {
        return performance.throughput() / performance.latencyNanos();
    }
}
