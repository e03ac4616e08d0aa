package io.farheap.manager.service;

import io.farheap.control.ControlException;
import io.farheap.manager.CacheManager;
import io.farheap.manager.Reclaim;

/** A client that ignores all notifications. */
public class Unheard implements CacheManager.Listener {

    @Override
    public void reclaim(Reclaim alert) {}

    @Override
    public void expiring(long cacheId, long leftMillis) {}

    @Override
    public void lost(long cacheId, String server) {}

    @Override
    public void ended(long cacheId, String why) {}

    @Override
    public void ended(ControlException why) {}
}
