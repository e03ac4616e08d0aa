package io.farheap.store.operation;

import io.farheap.store.index.HashIndex;
import io.farheap.store.log.Epochs;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogGaps;
import io.farheap.store.log.ReadCache;
import io.farheap.tier.device.Device;
import org.jspecify.annotations.Nullable;

/** What sessions of one store share. */
public record StoreContext(
        Device device,
        HashIndex index,
        HybridLog log,
        Epochs epochs,
        StoreVersion version,
        LogGaps gaps,
        @Nullable ReadCache cache) {}
