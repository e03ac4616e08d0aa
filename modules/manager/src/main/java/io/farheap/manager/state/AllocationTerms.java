package io.farheap.manager.state;

import java.util.Objects;

/**
 * The terms on which a cache was allocated. Immutable.
 *
 * @param place of its client, as data center, cluster and rack; empty if unknown
 * @param switches the most switches between its client and its servers, 1 or more
 * @param serverThreads of all its servers together; 0 or more
 * @param threadRegions the number of regions that these threads are for: a cache with more regions takes more cores in
 *     proportion; 0: for the regions that it has
 * @param expiresAtMillis when it ends by itself, in milliseconds since 1970; 0: never
 * @param tenant to which it belongs, as in {@code Tenant.name}
 */
public record AllocationTerms(
        String place, int switches, int serverThreads, long threadRegions, long expiresAtMillis, String tenant) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public AllocationTerms {
        Objects.requireNonNull(place, "place");
        RecordChecks.atLeast("switches", switches, 1);
        RecordChecks.atLeast("serverThreads", serverThreads, 0);
        RecordChecks.atLeast("threadRegions", threadRegions, 0);
        RecordChecks.atLeast("expiresAtMillis", expiresAtMillis, 0);
        RecordChecks.tenant(tenant);
    }

    /** Terms with server threads for the regions that the cache has. */
    public AllocationTerms(String place, int switches, int serverThreads, long expiresAtMillis, String tenant) {
        this(place, switches, serverThreads, 0, expiresAtMillis, tenant);
    }

    /** The same terms with another end. */
    AllocationTerms until(long millis) {
        return new AllocationTerms(place, switches, serverThreads, threadRegions, millis, tenant);
    }

    /** The same terms with another configuration. */
    AllocationTerms of(CachePlan plan) {
        return new AllocationTerms(
                place, plan.switches(), plan.serverThreads(), plan.threadRegions(), expiresAtMillis, tenant);
    }
}
