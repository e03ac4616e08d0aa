package io.farheap.slo;

/**
 * The cheapest configuration that meets an objective with a given number of server threads. Its cost is its server
 * threads, then its client threads.
 */
public record CandidateConfiguration(Configuration configuration, Performance predicted) {}
