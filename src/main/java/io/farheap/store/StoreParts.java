package io.farheap.store;

import io.farheap.tier.Device;
import org.jspecify.annotations.Nullable;

/** What sessions of one store share. */
record StoreParts(
        Device device,
        HashIndex index,
        HybridLog log,
        Epochs epochs,
        StoreVersion version,
        Gaps gaps,
        @Nullable ReadCache cache) {}
