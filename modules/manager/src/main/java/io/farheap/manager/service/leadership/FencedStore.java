package io.farheap.manager.service.leadership;

import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.StaleEpochException;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateStore;
import java.util.List;

/** A store that remembers whether another manager has opened the state since. Thread-safe, as the store is. */
final class FencedStore implements StateStore {

    private final StateStore store;
    private volatile boolean stale;

    FencedStore(StateStore store) {
        this.store = store;
    }

    /** Whether another manager leads, so that this one has to stop. Once true it stays true. */
    boolean stale() {
        return stale;
    }

    @Override
    public long epoch() {
        return store.epoch();
    }

    @Override
    public ManagerState load() {
        try {
            return store.load();
        } catch (StaleEpochException e) {
            stale = true;
            throw e;
        }
    }

    @Override
    public void write(List<StateChange> changes) {
        try {
            store.write(changes);
        } catch (StaleEpochException e) {
            stale = true;
            throw e;
        }
    }
}
