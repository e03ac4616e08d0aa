package io.farheap.slo;

/**
 * The cheapest configuration that meets an objective with a given number of server threads, in the order of
 * {@link Configuration#CHEAPEST_FIRST}.
 *
 * @param predicted the performance that the model predicts for it
 */
public record CandidateConfiguration(Configuration configuration, Performance predicted) {}
