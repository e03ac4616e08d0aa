package io.farheap.manager.state;

import java.util.Objects;

/**
 * What a cache was allocated for. Immutable.
 *
 * @param place of its client, as data center, cluster and rack; empty where nobody said
 * @param switches at most so many lie between its client and its servers, 1 or more
 * @param serverThreads of its servers, together; 0 or more
 * @param threadRegions for how many regions these are: a cache that has more regions takes as many more cores; 0: for
 *     those that it has
 * @param expiresAtMillis when it ends by itself, in milliseconds since 1970; 0: never
 * @param tenant to whom it belongs, as {@code Tenant.name} has it
 */
public record AllocationTerms(
        String place, int switches, int serverThreads, long threadRegions, long expiresAtMillis, String tenant) {

    /** @throws IllegalArgumentException where a value is out of its range */
    public AllocationTerms {
        Objects.requireNonNull(place, "place");
        RecordChecks.atLeast("switches", switches, 1);
        RecordChecks.atLeast("serverThreads", serverThreads, 0);
        RecordChecks.atLeast("threadRegions", threadRegions, 0);
        RecordChecks.atLeast("expiresAtMillis", expiresAtMillis, 0);
        RecordChecks.tenant(tenant);
    }

    /** Its server threads are for the regions that it has. */
    public AllocationTerms(String place, int switches, int serverThreads, long expiresAtMillis, String tenant) {
        this(place, switches, serverThreads, 0, expiresAtMillis, tenant);
    }

    /** With another end. */
    AllocationTerms until(long millis) {
        return new AllocationTerms(place, switches, serverThreads, threadRegions, millis, tenant);
    }

    /** With another configuration. */
    AllocationTerms of(CachePlan plan) {
        return new AllocationTerms(
                place, plan.switches(), plan.serverThreads(), plan.threadRegions(), expiresAtMillis, tenant);
    }
}
