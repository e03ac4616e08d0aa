package io.farheap.manager;

/**
 * A cache, as the manager knows it.
 *
 * @param leftMillis what is left of its lifetime; 0 for ever
 * @param tenant its owner, as {@link Tenant#name(String)} returns it
 */
public record CacheDescription(Allocation allocation, String name, long leftMillis, String tenant) {

    public CacheDescription {
        tenant = Tenant.name(tenant);
    }
}
