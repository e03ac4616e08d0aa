package io.farheap.store.operation;

import io.farheap.store.index.HashIndex;
import io.farheap.store.log.Epochs;
import io.farheap.store.log.Gaps;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.ReadCache;
import io.farheap.tier.device.Device;
import org.jspecify.annotations.Nullable;

/** What sessions of one store share. */
public record StoreParts(
        Device device,
        HashIndex index,
        HybridLog log,
        Epochs epochs,
        StoreVersion version,
        Gaps gaps,
        @Nullable ReadCache cache) {}
