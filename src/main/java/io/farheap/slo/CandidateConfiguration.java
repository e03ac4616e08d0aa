package io.farheap.slo;

/**
 * The cheapest configuration that meets an objective with a given number of server threads. Configurations are compared
 * by their server threads first, then by their client threads.
 */
public record CandidateConfiguration(Configuration configuration, Performance predicted) {}
