package io.farheap.manager.service;

import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.LifeRecord;
import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.ModelRecord;
import io.farheap.manager.state.ServerRecord;
import io.farheap.manager.state.StaleEpochException;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.StateStore;
import io.farheap.manager.state.TenantRecord;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** A store that forgets everything with its process. */
public final class MemoryStore implements StateStore {

    final Map<Long, ServerRecord> servers = new TreeMap<>();
    final Map<Long, CacheRecord> caches = new TreeMap<>();
    public final Map<String, ModelRecord> models = new TreeMap<>();
    public final Map<String, TenantRecord> tenants = new TreeMap<>();
    final Map<String, LifeRecord> lives = new TreeMap<>();
    String menu = "";
    public boolean failing;
    boolean unreadable;
    /** Whether another store was opened since: this one writes nothing any more. */
    boolean followed;

    @Override
    public long epoch() {
        return 1;
    }

    @Override
    public ManagerState load() {
        if (unreadable) {
            throw new StateException("the disk is gone");
        }
        return new ManagerState(
                List.copyOf(servers.values()),
                List.copyOf(caches.values()),
                menu,
                List.copyOf(models.values()),
                List.copyOf(tenants.values()),
                List.copyOf(lives.values()));
    }

    @Override
    public void write(List<StateChange> changes) {
        if (followed) {
            throw new StaleEpochException("another manager leads");
        }
        if (failing) {
            throw new StateException("the disk is full");
        }
        for (StateChange change : changes) {
            switch (change) {
                case StateChange.PutServer put -> servers.put(put.server().id(), put.server());
                case StateChange.RemoveServer remove -> servers.remove(remove.id());
                case StateChange.PutCache put -> caches.put(put.cache().id(), put.cache());
                case StateChange.PutMenu put -> menu = put.text();
                case StateChange.PutModel put -> models.put(put.model().key(), put.model());
                case StateChange.RemoveModel remove -> models.remove(remove.key());
                case StateChange.PutTenant put -> tenants.put(put.tenant().name(), put.tenant());
                case StateChange.PutLife put -> lives.put(put.life().type(), put.life());
                case StateChange.RemoveTenant remove -> tenants.remove(remove.name());
                case StateChange.RemoveCache remove -> caches.remove(remove.id());
            }
        }
    }
}
