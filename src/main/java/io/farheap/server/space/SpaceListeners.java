package io.farheap.server.space;

import io.farheap.server.contract.SpaceListener;
import io.farheap.thread.FailSafeLog;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Calls the listeners of spaces; an exception of one of them affects no other. Thread-safe. */
final class SpaceListeners implements SpaceListener {

    private static final System.Logger LOG = System.getLogger(SpaceListeners.class.getName());

    private final List<SpaceListener> listeners = new CopyOnWriteArrayList<>();

    void add(SpaceListener listener) {
        listeners.add(listener);
    }

    @Override
    public void openingEnded(long spaceId, long leaseId) {
        tell(listener -> listener.openingEnded(spaceId, leaseId));
    }

    @Override
    public void spaceEnded(long spaceId) {
        tell(listener -> listener.spaceEnded(spaceId));
    }

    private void tell(Consumer<SpaceListener> what) {
        for (SpaceListener listener : listeners) {
            try {
                what.accept(listener);
            } catch (Throwable e) {
                FailSafeLog.log(LOG, "a service failed when it was notified that a space or an opening ended", e);
            }
        }
    }
}
