package io.farheap.manager;

/**
 * A cache, as the manager knows it.
 *
 * @param leftMillis of its lifetime; 0 where it is for ever
 * @param tenant to whom it belongs, as {@link Tenant#name(String)} has it
 */
public record CacheDescription(Allocation allocation, String name, long leftMillis, String tenant) {

    public CacheDescription {
        tenant = Tenant.name(tenant);
    }
}
