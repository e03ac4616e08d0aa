package io.farheap.kv.policy;

/** What a policy wants to know of an object (Ditto, table 1). A session writes only what one of its policies needs. */
public enum AccessInformation {
    SIZE,
    INSERT_TIME,
    LAST_ACCESS,
    FREQUENCY,
    /** Estimated by each client for itself, and never written. */
    LATENCY,
    /** As {@link #LATENCY}. */
    COST,
    /** Words in the object's block that the policy itself changes: a WRITE more an access, a READ more a candidate. */
    EXTENSION
}
