package io.farheap.manager.service;

import io.farheap.control.ControlException;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;
import java.util.List;

/**
 * Records what a manager notifies a client of. The stream must not end.
 *
 * @param alerts receives the alerts
 * @param ends receives the caches that the manager has ended
 */
public record RecordedNotices(List<Reclaim> alerts, List<Long> ends) implements CacheManager.Listener {

    @Override
    public void reclaim(Reclaim alert) {
        alerts.add(alert);
    }

    @Override
    public void expiring(long cacheId, long leftMillis) {}

    @Override
    public void lost(long cacheId, String server) {}

    @Override
    public void ended(long cacheId, String why) {
        ends.add(cacheId);
    }

    @Override
    public void ended(ControlException why) {
        throw new AssertionError(why);
    }
}
