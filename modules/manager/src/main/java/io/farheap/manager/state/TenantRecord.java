package io.farheap.manager.state;

/**
 * A tenant's quota; a tenant without a limit has no record. Immutable.
 *
 * @param name as in {@code Tenant.name}; also the name of its node
 * @param bytes the most of its caches' capacities together; {@link Long#MAX_VALUE} for no limit
 * @param caches the most caches; {@link Long#MAX_VALUE} for no limit
 */
public record TenantRecord(String name, long bytes, long caches) {

    /** @throws IllegalArgumentException if a value is out of its range */
    public TenantRecord {
        RecordChecks.tenant(name);
        RecordChecks.atLeast("bytes", bytes, 0);
        RecordChecks.atLeast("caches", caches, 0);
    }
}
