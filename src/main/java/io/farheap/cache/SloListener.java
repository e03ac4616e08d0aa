package io.farheap.cache;

import io.farheap.cache.contract.SloReport;

/** Told what a cache did beside its objective. */
@FunctionalInterface
public interface SloListener {

    /**
     * After each period, on a thread of the cache's that it must not hold. It may {@linkplain Cache#reshape reshape}
     * the cache from another.
     */
    void compared(SloReport report);
}
