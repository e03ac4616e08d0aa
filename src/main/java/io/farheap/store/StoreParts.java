package io.farheap.store;

import io.farheap.tier.Device;

/** What sessions of one store share. */
record StoreParts(Device device, HashIndex index, HybridLog log, Epochs epochs, StoreVersion version, Gaps gaps) {}
