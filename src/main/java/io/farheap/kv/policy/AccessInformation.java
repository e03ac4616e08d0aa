package io.farheap.kv.policy;

/**
 * Information about an object that a policy may need (Ditto, table 1). A session writes only what one of its policies
 * needs.
 */
public enum AccessInformation {
    SIZE,
    INSERT_TIME,
    LAST_ACCESS,
    FREQUENCY,
    /** Would be estimated by each client for itself, and never written. A map's sessions do not: it is always 1. */
    LATENCY,
    /** As {@link #LATENCY}. */
    COST,
    /**
     * Words in the object's block that the policy itself changes: they cost one more WRITE per access, and one more
     * READ per candidate.
     */
    EXTENSION
}
