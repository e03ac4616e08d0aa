package io.farheap.cache;

import io.farheap.cache.contract.SloReport;

/** Receives a cache's performance, compared with its objective. */
@FunctionalInterface
public interface SloListener {

    /**
     * Called after each period, on a thread of the cache's that it must not hold. To {@linkplain Cache#reshape reshape}
     * the cache it uses another thread.
     */
    void compared(SloReport report);
}
