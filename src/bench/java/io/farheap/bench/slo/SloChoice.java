package io.farheap.bench.slo;

import io.farheap.slo.CandidateConfiguration;
import io.farheap.slo.Slo;

/**
 * The result of the search for an objective.
 *
 * @param searchNanos how long it took
 */
public record SloChoice(Slo slo, CandidateConfiguration chosen, long searchNanos) {}
