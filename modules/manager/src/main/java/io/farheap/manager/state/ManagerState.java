package io.farheap.manager.state;

import java.util.List;

/**
 * Everything that is stored, at one moment. Immutable.
 *
 * @param servers in no order
 * @param caches in no order
 * @param menu of machines and prices, as the operator wrote it; empty if there is none
 * @param models in no order
 * @param tenants that have a quota, in no order
 * @param lives of types of which spot servers were observed to the end or until they were asked to leave, in no order
 */
public record ManagerState(
        List<ServerRecord> servers,
        List<CacheRecord> caches,
        String menu,
        List<ModelRecord> models,
        List<TenantRecord> tenants,
        List<LifeRecord> lives) {

    public ManagerState {
        servers = List.copyOf(servers);
        caches = List.copyOf(caches);
        models = List.copyOf(models);
        tenants = List.copyOf(tenants);
        lives = List.copyOf(lives);
    }
}
