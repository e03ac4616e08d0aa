package io.farheap.store.operation;

import io.farheap.store.index.HashIndex;
import io.farheap.store.log.Epochs;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogGaps;
import io.farheap.store.log.ReadCache;
import io.farheap.tier.device.Device;
import org.jspecify.annotations.Nullable;

/** The parts of a store that its sessions share. */
public record StoreContext(
        Device device,
        HashIndex index,
        HybridLog log,
        Epochs epochs,
        StoreVersion version,
        LogGaps gaps,
        @Nullable ReadCache cache) {}
