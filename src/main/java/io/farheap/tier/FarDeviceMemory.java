package io.farheap.tier;

import io.farheap.cache.Buffer;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.MemorySegment;

/** Memory that is registered with a {@link FarDevice}, and so with its cache. */
final class FarDeviceMemory extends OwnedMemory {

    final Buffer buffer;

    FarDeviceMemory(Registry registry, MemorySegment memory, Buffer buffer) {
        super(registry, memory);
        this.buffer = buffer;
    }

    @Override
    protected void free() {
        buffer.close();
    }
}
