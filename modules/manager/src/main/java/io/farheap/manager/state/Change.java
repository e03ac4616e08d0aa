package io.farheap.manager.state;

/** One change of the state. A put creates or replaces; to remove what is not there changes nothing. */
public sealed interface Change {

    /** @param server replaces the one of this id */
    record PutServer(ServerRecord server) implements Change {}

    record RemoveServer(long id) implements Change {}

    /** @param cache replaces the one of this id */
    record PutCache(CacheRecord cache) implements Change {}

    /** @param text as the operator wrote it */
    record PutMenu(String text) implements Change {}

    /** @param model replaces the one of this key */
    record PutModel(ModelRecord model) implements Change {}

    record RemoveModel(String key) implements Change {}

    /** @param tenant replaces the one of this name */
    record PutTenant(TenantRecord tenant) implements Change {}

    /** @param life replaces the one of this type */
    record PutLife(LifeRecord life) implements Change {}

    record RemoveTenant(String name) implements Change {}

    record RemoveCache(long id) implements Change {}
}
