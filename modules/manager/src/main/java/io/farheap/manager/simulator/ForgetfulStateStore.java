package io.farheap.manager.simulator;

import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateStore;
import java.util.List;

/** The state of a simulated manager, which never starts again and so never reads what it has written. */
final class ForgetfulStateStore implements StateStore {

    @Override
    public long epoch() {
        return 1;
    }

    @Override
    public ManagerState load() {
        return new ManagerState(List.of(), List.of(), "", List.of(), List.of(), List.of());
    }

    @Override
    public void write(List<StateChange> changes) {
        // The manager's memory has all of it.
    }
}
