package io.farheap.manager.state;

/**
 * A tenant's quota; one without a limit has none. Immutable.
 *
 * @param name as {@code Tenant.name} has it; its node's too
 * @param bytes of its caches' capacities; {@link Long#MAX_VALUE} for no limit
 * @param caches how many; {@link Long#MAX_VALUE} for no limit
 */
public record TenantRecord(String name, long bytes, long caches) {

    /** @throws IllegalArgumentException where a value is out of its range */
    public TenantRecord {
        RecordChecks.tenant(name);
        RecordChecks.atLeast("bytes", bytes, 0);
        RecordChecks.atLeast("caches", caches, 0);
    }
}
