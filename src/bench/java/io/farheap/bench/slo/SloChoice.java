package io.farheap.bench.slo;

import io.farheap.slo.CandidateConfiguration;
import io.farheap.slo.Slo;

/**
 * What was found for an objective.
 *
 * @param searchNanos how long that took
 */
public record SloChoice(Slo slo, CandidateConfiguration chosen, long searchNanos) {}
