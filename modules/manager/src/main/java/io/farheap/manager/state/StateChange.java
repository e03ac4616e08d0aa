package io.farheap.manager.state;

/** One change of the state. A put creates or replaces; a removal of a record that does not exist changes nothing. */
public sealed interface StateChange {

    /** @param server replaces the one of this id */
    record PutServer(ServerRecord server) implements StateChange {}

    record RemoveServer(long id) implements StateChange {}

    /** @param cache replaces the one of this id */
    record PutCache(CacheRecord cache) implements StateChange {}

    /** @param text as the operator wrote it */
    record PutMenu(String text) implements StateChange {}

    /** @param model replaces the one of this key */
    record PutModel(ModelRecord model) implements StateChange {}

    record RemoveModel(String key) implements StateChange {}

    /** @param tenant replaces the one of this name */
    record PutTenant(TenantRecord tenant) implements StateChange {}

    /** @param life replaces the one of this type */
    record PutLife(LifeRecord life) implements StateChange {}

    record RemoveTenant(String name) implements StateChange {}

    record RemoveCache(long id) implements StateChange {}
}
